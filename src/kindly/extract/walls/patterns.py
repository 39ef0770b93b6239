"""Patterns of logins, paywalls, consent forms, "not found" pages and app shells, as data.

`detect` decides how much text a page may have for each pattern to count; `kindly.challenges` has those of bot checks,
`kindly.text.script_evidence` those of pages that need JavaScript.
"""

import re

from kindly.text import script_evidence
from kindly.text.challenges import TITLE_END

LOGIN_TITLE = re.compile(
    r"\b(?:log ?in|sign ?in|sign ?on|anmelden|einloggen|connexion|iniciar sesión|accedi|войти|ログイン)\b",
    re.I,
)
LOGIN_PATH = re.compile(
    r"/(?:log-?in|sign-?in|users/sign_in|sso|accounts/login|auth)(?:[/?.]|\Z)", re.I
)
PASSWORD_FIELD = re.compile(r"<input[^>]{0,500}type=[\"']?password", re.I)
SIGN_IN_WITH = re.compile(
    r"(?:continue|sign ?in|log ?in) with (?:google|apple|facebook|github|microsoft|sso|email)", re.I
)
LOGIN_TEXT = re.compile(
    r"you (?:must|need to|have to) (?:be logged in|be signed in|log ?in|sign ?in)"
    r"(?! (?:or \w+ )?(?:to|before you can) (?:post|comment|reply|vote|leave|add|rate|follow|like|write|edit))|"
    r"(?:log|sign) ?in to (?:continue|view|see|access)\b|(?:log|sign) ?in (?:is )?required|"
    r"join or (?:log|sign) in to|please (?:log|sign) ?in(?: first)?(?:[.!]|\Z)|"
    r"this (?:page|content|video|account|group|community) is private",
    re.I,
)

LOCKED_SCHEMA = re.compile(r"[\"']isAccessibleForFree[\"']\s*:\s*[\"']?(?:false|no)\b", re.I)
PAYWALL_MARKUP = re.compile(
    r"(?:class|id|data-testid)=[\"'][^\"']{0,120}\b(?:paywall|regwall|piano-(?:offer|inline)|tp-modal|subscriber-only|"
    r"meter(?:ed)?-(?:wall|content)|gateway-content|article-gate|subscription-required|premium-locked|leaky-paywall)|"
    r"[\"']article:content_tier[\"'] content=[\"'](?:locked|metered)|cdn\.tinypass\.com|poool\.fr|pelcro|"
    r"[\"']cssSelector[\"']\s*:",
    re.I,
)
PAYWALL_TEXT = re.compile(
    r"(?:subscribe|subscription|register|sign up) (?:now |today )?(?:is )?(?:to|required to) "
    r"(?:continue|read|unlock|keep|access)"
    r"(?! (?:the |our |my )?(?:newsletter|mailing|feed))|"
    r"(?:article|content|story|page|post) is (?:only )?(?:available|reserved|exclusive(?:ly)?)? ?(?:for|to) "
    r"(?:our )?(?:paid |paying |premium )?(?:subscribers|members)|already a (?:paid )?subscriber\?|"
    r"become a (?:subscriber|member) to (?:read|continue|unlock)|"
    r"you(?:'|’)ve (?:reached|hit) your (?:free )?(?:article|monthly|story) limit|"
    r"(?:subscribe|start your (?:free )?trial|log in) (?:or \w+ ?\w* )?to (?:continue|keep|finish) reading|"
    r"(?:this|the rest of (?:this|the)) (?:article|post|story) is (?:for|behind)|"
    r"unlock (?:this|the full) (?:article|story|post)|upgrade to (?:paid|read)|"
    r"jetzt weiterlesen mit|abonnez-vous pour lire|réservé aux abonnés|contenido exclusivo para suscriptores",
    re.I,
)

PAYWALL_WORDS = (
    " to continue", " to read", " to unlock", " to keep", " to access", " to finish", "subscriber", " members",
    "reached your", "hit your", " is for", " is behind", "unlock th", "upgrade to ", "weiterlesen mit",
    "abonnez-vous", "aux abonn", "suscriptores",
)  # fmt: skip
"""Every match of `PAYWALL_TEXT` contains one of these words, which are much faster to find."""

CONSENT_ADDRESS = re.compile(
    r"\Ahttps?://(?:consent\.(?:google|youtube|yahoo)\.|guce\.|[^/]*/(?:privacy-gate|cookie-?wall|consent-?(?:wall|gate)))",
    re.I,
)
CONSENT_TITLE = re.compile(
    r"(?:before you continue|we value your privacy|your privacy(?: matters)?|cookie consent|consent|privacy gate|"
    r"privacy settings|datenschutz(?:einstellungen|-einstellungen)|yahoo is part of the yahoo family of brands|"
    r"cookie ?wall|mit werbung weiterlesen|diese webseite verwendet cookies)" + TITLE_END,
    re.I,
)
CONSENT_TEXT = re.compile(
    r"before you continue to (?:google|youtube)|(?:we|our \d+ partners|und unsere|nous)\b.{0,120}\bcookies|"
    r"cookies\b.{0,120}\b(?:partners|partner|consent|agree|accept)|store and/or access information on a device|"
    r"mit werbung weiterlesen|zustimmen und weiter|continuer sans accepter",
    re.I | re.S,
)
CONSENT_BUTTON = re.compile(
    r"<(?:button|a|input)\b[^>]{0,300}?(?:>|value=[\"'])\s*(?:<[^>]{1,200}>\s*)*"
    r"(?:(?:i )?(?:accept|agree|consent|allow|reject|manage)\b|ok(?:ay)?\b|alle akzeptieren|zustimmen|einverstanden|"
    r"tout accepter|j(?:'|’)accepte|aceptar|accetta)",
    re.I,
)
CONSENT_WORDS = re.compile(
    r"cookie|consent|privacy|partner|advertis|personali[sz]|tracking|accept|agree|reject|datenschutz|"
    r"zustimm|werbung|publicité|manage|settings|continue",
    re.I,
)
POLICY_TITLE = re.compile(r"polic(?:y|ies)|notice|statement|richtlinie|guide|how ", re.I)

NOT_FOUND_TITLE = re.compile(
    r"(?:[^|–—]{0,60}[|–—-] )?(?:error:? ?)?(?:(?:404|410)[\s:!.|–—-]*)?"
    r"(?:oops[,!.… ]*|sorry[,!.… ]*|uh[ -]oh[,!.… ]*)?"
    r"(?:the |this |that |your )?(?:requested )?"
    r"(?:(?:page|file|document|article|content|url|post|site|product|item|resource|topic|seite|página|pagina) )?"
    r"(?:(?:could |was |can |is |has )?(?:not|n(?:'|’)t) (?:be |been )?found|"
    r"could(?:n(?:'|’)t| not) be found|can(?:'|’)t be found|"
    r"nicht gefunden|non trouvée|introuvable|no encontrada|non trovata|não encontrada|"
    r"does(?:n(?:'|’)t| not) exist|gone|error)" + TITLE_END,
    re.I,
)
BARE_404 = re.compile(r"(?:error:? ?)?404(?: error| page)?" + TITLE_END, re.I)
NOT_FOUND_TEXT = re.compile(
    r"(?:the|this|that) (?:page|url|address|link|content|article|document|file|post|product|resource|listing)"
    r"(?: (?:that )?(?:you|we)(?:'|’)?(?:re| are| were| have|ve)? ?(?:\w+ ){0,2}"
    r"(?:looking for|requested|trying to \w+|followed|accessed))?"
    r".{0,60}?(?:(?:not|n(?:'|’)t|never|no longer|cannot) ?(?:be )?(?:found|exist|available|here|existed|work)|"
    r"(?:been|was) (?:moved|removed|deleted|renamed)|have moved|is gone)|"
    r"we (?:can(?:'|’)?t|cannot|could(?: not|n(?:'|’)t)|were unable to|are unable to) (?:seem to )?(?:find|locate)|"
    r"requested (?:url|page|resource|document|file).{0,80}not (?:be )?found|nothing (?:was )?found (?:here|at this)|"
    r"page you(?:'|’)?(?:re| are| were) looking for|seite (?:wurde|konnte) nicht gefunden|"
    r"page (?:demandée|que vous (?:cherchez|recherchez)).{0,60}(?:existe|introuvable|trouv)|"
    r"página que (?:busca|buscas|está buscando).{0,60}(?:existe|encontr)",
    re.I,
)

SCRIPT_TEXT = re.compile(script_evidence.REQUESTS, re.I)
SCRIPT_WORD = "java"
"""Every match of `SCRIPT_TEXT` contains it."""
SHELL_MARKUP = re.compile(
    rf"<(?:div|main|section|body)[^>]{{0,200}}\bid=[\"']?(?:{script_evidence.MOUNTS})\b|"
    rf"<app-root\b|<shreddit-app\b|<ytd-app\b|{script_evidence.FRAMEWORKS}|{script_evidence.MODULE}",
    re.I,
)
EMPTY_MOUNT = re.compile(
    rf"<(div|main|section)\b[^<>]{{0,200}}\bid=[\"']?(?:{script_evidence.MOUNTS})\b[^<>]{{0,200}}>\s{{0,200}}</\1\b|"
    r"<((?:[a-z0-9]{1,20}-){1,5}(?:root|app))\b[^<>]{0,200}>\s{0,200}</\2\b",
    re.I,
)
PICTURE = re.compile(r"<img\b", re.I)
DRAWING_SCRIPT = re.compile(
    rf"{script_evidence.LINKED_SCRIPT}|{script_evidence.RENDERING}|(?:window|document|top)\.location",
    re.I,
)
LOADING_TEXT = re.compile(rf"\W*(?:{script_evidence.LOADING})\b.{{0,60}}\Z", re.I)
