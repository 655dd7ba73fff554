"""Made-up desks on dry land: an observatory, mountain weather, a council, a railway, advisories.

Every place, person, product and number in here is invented.
"""

from __future__ import annotations

from sourcemon.replay.desks import Attachment, Desk, Story

OBSERVATORY = Desk(
    title="Observatorio de la Loma Fría – noches",
    home="https://lomafria.example/noches/",
    description="What the 1.2 m telescope saw, and what flew in front of it",
    language="es",
    stories=(
        Story(
            title="Noche {n}: cometa débil, café fuerte",
            text="<p>Magnitud 14,2 en <i>Sagitta</i>. El guiado falló a las 3:40, el café no.</p>",
            page="noche-{n}",
            author="Íñigo Peñalosa",
            categories=("cometas",),
        ),
        Story(
            title="Night {n}: dome closed, humidity 97 %",
            text="<p>We counted moths instead: <b>212</b>. One is new to the dome.</p>",
            page="noche-{n}",
            author="R. Adeyemi",
            categories=("weather", "moths"),
        ),
        Story(
            title="Night {n}: variable star does something, then stops",
            text="<p>Light curve in the <a href='data/'>archive</a>. Δm = 0.3 in six minutes.</p>",
            page="noche-{n}",
            author="Íñigo Peñalosa",
            categories=("variables",),
        ),
    ),
)

MOUNTAIN = Desk(
    title="Bergwetterwarte Hochjöchl",
    home="https://hochjoechl.example/wetter/",
    description="Wetter, Lawinen und der Zustand des Gipfelkreuzes",
    language="de-AT",
    stories=(
        Story(
            title="Bulletin {n}: Föhn bis Mittag, danach Reue",
            text="<p>Sturmböen über <b>2 400 m</b>. Wer früh aufbricht, sieht mehr.</p>",
            page="bulletin/{n}",
            author="Wetterwart Schönögger",
            categories=("Föhn",),
        ),
        Story(
            title="Bulletin {n}: avalanche level 3 above the larches",
            text="<p>Wind slabs on slopes &gt; 35°. The hut serves soup until the level drops.</p>",
            page="bulletin/{n}",
            author="Lawinendienst",
            categories=("avalanche", "Stufe 3"),
            attachment=Attachment("karten/stufe3.pdf", "application/pdf", 1_204_551),
        ),
        Story(
            title="Bulletin {n}: Neuschnee 22 cm, Gipfelkreuz nur oben sichtbar",
            text='<p>Die <a href="webcam">Webcam</a> zeigt weiß. Das ist kein Fehler.</p>',
            page="bulletin/{n}",
            author="Wetterwart Schönögger",
            categories=("Schnee",),
        ),
        Story(
            title="Bulletin {n}: thunder from three valleys",
            text="<p>Be off the ridge by 13:00. Lightning does not read bulletins.</p>",
            page="bulletin/{n}",
            categories=("thunder",),
            has_guid=False,
        ),
    ),
)

COUNCIL = Desk(
    title="Město Vodní Újezd – zápisy ze zasedání",
    home="https://vodni-ujezd.example/zapisy/",
    description="Minutes of the council, including the part about the fountain",
    language="cs",
    stories=(
        Story(
            title="Zasedání {n}: kašna opět teče, jen na druhou stranu",
            text="<p>Usnesení přijato <b>9 : 4</b>. Pan Říha žádá o zápis svého úžasu.</p>",
            page="{n}.html",
            author="Zapisovatelka Žofie Dvořáčková",
            categories=("kašna", "usnesení"),
            attachment=Attachment("pdf/kasna.pdf", "application/pdf", 402_118),
        ),
        Story(
            title="Session {n}: bench by the mill approved, colour deferred",
            text="<p>Green and <em>not quite green</em> got six votes each.</p>",
            page="{n}.html",
            author="Clerk",
            categories=("benches",),
        ),
        Story(
            title="Zasedání {n}: rozpočet & ponožky",
            text="<p>Dar 40 párů ponožek pro hasiče byl přijat. Viz <a href='r.html'>R</a>.</p>",
            page="{n}.html",
            author="Zapisovatelka Žofie Dvořáčková",
            categories=("rozpočet",),
        ),
    ),
)

RAILWAY = Desk(
    title="Kleinbahn Wümmetal: Bauarbeiten",
    home="https://wuemmetal.example/bau/",
    description="Works on 19 km of line, two bridges and one stubborn signal",
    language="de",
    stories=(
        Story(
            title="Bau {n}: Signal 4 zeigt wieder Grün, wenn es Grün meint",
            text="<p>Die Ursache war ein Specht. Er wurde <i>umgesiedelt</i>.</p>",
            page="{n}",
            author="Bahnmeisterei",
            categories=("Signale",),
        ),
        Story(
            title="Works {n}: replacement bus, replacement driver, same jokes",
            text="<p>Between Öhringsdorf and Weiche Süd, hourly at :20.</p>",
            page="{n}",
            author="Timetable desk",
            categories=("bus",),
        ),
    ),
)

ADVISORIES = Desk(
    title="Quellstein Security Advisories",
    home="https://security.quellstein.example/advisories/",
    description="Faults in software that does not exist, fixed in versions that do not either",
    language="en",
    stories=(
        Story(
            title="QSA-{n}: tealeaf <= 3.1 reads one leaf too many",
            text="<p>An out-of-bounds read when a cup is <code>NULL</code>. Upgrade to 3.2, or "
            "drink coffee. <code>if (cup &amp;&amp; cup-&gt;leaf)</code> is the whole fix.</p>",
            page="QSA-{n}",
            author="Response team",
            categories=("tealeaf", "medium"),
        ),
        Story(
            title="QSA-{n}: lanternd trusts every moth",
            text="<p>Requests from <code>::1%moth0</code> skip authentication. <b>Critical</b></p>",
            page="QSA-{n}",
            author="Нина Светлова",
            categories=("lanternd", "critical"),
            attachment=Attachment("lanternd.patch", "text/x-diff", 2_311),
        ),
        Story(
            title="QSA-{n} withdrawn: it was the documentation that was vulnerable",
            text="<p>The example in chapter 4 told readers to <code>chmod 777 /</code>. Sorry.</p>",
            page="QSA-{n}",
            author="Response team",
            categories=("withdrawn",),
        ),
        Story(
            title="QSA-{n}: абакус rounds prices in the customer's favour",
            text="<p>Reported by nobody for six years. See <a href='QSA-1'>the first one</a>.</p>",
            page="QSA-{n}",
            author="Нина Светлова",
            categories=("абакус", "low"),
        ),
    ),
)
