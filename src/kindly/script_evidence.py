"""Evidence that a page shows its text only with JavaScript. One table for all stages.

Extraction asks it about a page with hardly any text, fetch about a response with little text. Both use the same words;
each decides where they count. Regular expressions as text, in lower case and bounded, so that fetch can search bytes.
"""

NOT_ON = "not (?:currently )?(?:enabled|available|supported|active|activated|allowed|on|turned on|working|running)"
REQUESTS = "|".join(
    (
        r"(?:enable|activate|turn on|switch on|requires?|needs?|without|allow|supports?)\s+(?:your\s+)?java ?script",
        r"java ?script\s+(?:is|must be|seems to be|has been|needs to be|to be|support)\s+(?:currently\s+)?"
        rf"(?:disabled|required|enabled|turned o(?:ff|n)|necessary|{NOT_ON})",
        r"(?:browser|bitte) java ?script|java ?script (?:aktivieren|einschalten)|aktivieren sie java ?script",
        r"active[rz] java ?script|habilit[ae]r? java ?script",
        r"(?:请|請)?(?:启用|啟用) ?java ?script",
    )
)
"""Sentences that ask for JavaScript."""

LOADING = r"loading|please wait|one moment|wird geladen|chargement|cargando|initiali[sz]ing|starting|redirecting|加载中"
"""What a page says while a script loads its text."""

MOUNTS = (
    "root|app|__next|__nuxt|___gatsby|gatsby-focus-wrapper|react-root|react-app|app-root|main-app|app-mount|"
    "app-container|application|ember-app|vue-app|q-app|page-root|content-root|svelte|sapper|mount|spa|elm|blazor|"
    "__docusaurus|flutter_target"
)
"""Names of the element that a framework renders into."""

FRAMEWORKS = r"\bng-app\b|\bdata-reactroot\b|<flutter-view|flutter_bootstrap"
"""Other marks of a page that a framework renders."""

MODULE = r"<script\b[^<>]{0,500}\btype=[\"']?module\b"
LINKED_SCRIPT = r"<script\b[^<>]{0,500}\bsrc="

RENDERING = "|".join(
    (
        r"\bfetch\s*\(|xmlhttprequest|\baxios\b|\$\.(?:get|ajax|getjson)|new eventsource|new websocket|import\s*\(",
        r"document\.(?:write|body|getelementbyid|queryselector)|createelement|appendchild",
        r"innerhtml|textcontent|insertadjacenthtml|customelements\.define",
        r"\.render\s*\(|createroot|createapp|\.mount\s*\(",
        r"location(?:\.href)?\s*=|location\.(?:replace|assign)",
    )
)
"""Calls of a script that loads text, writes it into the page or goes to another page."""
