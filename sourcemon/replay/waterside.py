"""Made-up desks by the water: a harbour office, a lighthouse, a ferry line, a market, a diver.

Every place, person, ship and number in here is invented.
"""

from __future__ import annotations

from sourcemon.replay.desks import Attachment, Desk, Story

HARBOUR = Desk(
    title="Hafenamt Nordmole – Bekanntmachungen",
    home="https://hafenamt.example/bekanntmachungen/",
    description="Notices to mariners, berth holders and persistent anglers",
    language="de",
    stories=(
        Story(
            title="Liegeplatz 7 wegen Baggerarbeiten gesperrt (Nr. {n})",
            text="<p>Der Bagger <em>Dicke Berta</em> räumt den Schlick von drei Wintern. Boote "
            'bitte an <a href="plan.html">Brücke C</a> festmachen, Möwen nach Ermessen.</p>',
            page="{n}.html",
            author="Jürgen Äppelwoi",
            categories=("Sperrung", "Nordbecken"),
        ),
        Story(
            title="Notice {n}: the tide gauge is 4 cm too cheerful",
            text="<p>Until the float is replaced, subtract <b>4 cm</b> from every reading. Depths "
            "&lt; 2.1 m at the fuel pier are real.</p>",
            page="{n}.html",
            author="Harbour Master",
            categories=("Tides",),
        ),
        Story(
            title="Fundsache {n}: Gummistiefel, links, Größe 47 & nass",
            text="<p>Abzuholen im Büro. Wer den <i>rechten</i> hat, gewinnt eine Rundfahrt.</p>",
            page="fundsachen.html?nr={n}",
            categories=("Fundbüro",),
            has_guid=False,
        ),
        Story(
            title="Radio check {n}: channel 12 will be quiet from noon to one",
            text="<p>The antenna gets a new coat of paint. Call on channel 16, or wave.</p>",
            page="{n}.html",
            author="Duty Officer",
            attachment=Attachment("audio/kanal-12.ogg", "audio/ogg", 184_220),
        ),
    ),
)

LIGHTHOUSE = Desk(
    title="The Log of Skarvøy Light",
    home="https://skarvoy.example/log/",
    description="Kept by two keepers and a cat, every watch since 1871",
    language="en",
    stories=(
        Story(
            title="Watch {n}: fog, forty-one blasts, one reply",
            text="<p>Visibility 200 m. A trawler answered our horn with <q>Happy birthday</q>; it "
            'is nobody’s birthday. See the <a href="fog.html">fog table</a>.</p>',
            page="watch/{n}",
            author="Ingrid Ødegård",
            categories=("fog", "horn"),
        ),
        Story(
            title="Watch {n}: lens cleaned, keeper dazzled",
            text="<p>All 1 144 prisms. The cat has been told twice that the lens is not warm "
            "<em>for her</em>.</p>",
            page="watch/{n}",
            author="Pål Sæther",
            categories=("upkeep",),
            attachment=Attachment("photos/lens.jpg", "image/jpeg", 612_004),
        ),
        Story(
            title="Watch {n}: wind NW 9, supper went over the side",
            text="<p>Gusts of 46 m/s at 03:10. The flagpole now points at Scotland.</p>",
            page="watch/{n}",
            author="Ingrid Ødegård",
            categories=("wind",),
        ),
        Story(
            title="Watch {n}: nothing whatever",
            text="<p>Calm. Clear. Eleven ships, all polite.</p>",
            page="watch/{n}",
            author="Pål Sæther",
        ),
    ),
)

FERRY = Desk(
    title="Ρεύμα Lines – sailings and excuses",
    home="https://reuma-lines.example/sailings/",
    description="What sailed, what did not, and what the captain said about it",
    language="en",
    stories=(
        Story(
            title="Sailing {n}: the Αργώ II leaves at 07:15, this time with fuel",
            text="<p>Foot passengers by the <a href='gates/'>yellow gate</a>. Goats travel on deck "
            "B and need no ticket.</p>",
            page="{n}",
            author="Καλλιόπη Ναύτη",
            categories=("morning", "Αργώ II"),
        ),
        Story(
            title="Sailing {n} cancelled: <strike> does not mean the HTML tag",
            text="<p>The engineers are on strike until Tuesday. Tickets stay valid.</p>",
            page="{n}",
            author="Ticket office",
            categories=("cancelled",),
        ),
        Story(
            title="Sailing {n}: 40 minutes late, dolphins",
            text="<p>The captain stopped to let them pass. They took their time.</p>",
            page="{n}",
            author="Καλλιόπη Ναύτη",
            attachment=Attachment("video/dolphins.mp4", "video/mp4", 8_441_930),
        ),
    ),
)

NIGHT_MARKET = Desk(
    title="月見横丁 Night Market",
    home="https://tsukimi.example/tonight/",
    description="今夜の屋台 – who is cooking tonight, and until the pot is empty",
    language="ja",
    stories=(
        Story(
            title="第{n}夜:たこ焼き、蛸は二匹まで",
            text="<p>屋台<b>十二番</b>。並ぶ方は右側へ。<a href='map'>地図</a></p>",
            page="stalls/{n}",
            author="月見 たま",
            categories=("たこ焼き",),
        ),
        Story(
            title="Night {n}: the ramen stall moves under the bridge",
            text="<p>Rain is forecast; broth is certain. 雨天決行。</p>",
            page="stalls/{n}",
            author="橋本 健",
            categories=("ラーメン", "rain"),
            attachment=Attachment("bridge.png", "image/png", 95_310),
        ),
        Story(
            title="Night {n}: 🏮 lanterns at eight, silence at eleven",
            text="<p>The neighbours thank you. So does the temple.</p>",
            page="stalls/{n}",
            author="月見 たま",
        ),
    ),
)

WRECKS = Desk(
    title="Wreck of the Week",
    home="https://wrecks.example/finds/",
    description="A diver's card index, typed by somebody with cold fingers",
    language="en",
    stories=(
        Story(
            title="Find {n}: a barge of roof tiles, still in rows",
            text="<p>14 m, sand. Nobody is missing a roof, so we left it.</p>",
            page="{n}.html",
        ),
        Story(
            title="Find {n}: a piano, two octaves in tune",
            text="<p>22 m. An eel lives in the bass. Señora Muñoz played <i>one</i> chord.</p>",
            page="{n}.html",
        ),
        Story(
            title="Find {n}: anchor, origin unknown, Žižkov stamp",
            text="<p>Which is 500 km from any sea. Letters to the editor, please.</p>",
            page="{n}.html",
        ),
    ),
)
