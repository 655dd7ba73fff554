"""Values to rows and back. The only room that speaks SQL; rows never leave it."""
