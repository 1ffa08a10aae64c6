// Signs of markup and script: a tag, a handler, an address that runs, a call.
import { sign, type Sign } from '../sign.js';

const raw = String.raw;
/** Letters that may stand apart, as browsers read the scheme of an address. */
const apart = (text: string): string => [...text].join(raw`[\s\x00]*`);

export const scriptSigns: readonly Sign[] = [
  sign(
    'html-tag',
    ['script'],
    5,
    'an element of HTML',
    raw`<[\s/!?]*(?:script|iframe|svg|img|image|body|object|embed|applet|meta|base|link|form|input|button|isindex`,
    raw`|style|video|audio|source|marquee|math|details|select|textarea|keygen|table|t[dr]|div|span|a|b|p|br|x|frameset`,
    raw`|frame|layer|xss|html|bgsound|animate|set|template|noscript|dialog|area|map|title)(?:[^\w.:-]|\z)`,
  ),
  sign(
    'html-handler',
    ['script'],
    5,
    'an attribute that runs script (on…=)',
    raw`(?:\W|^)on\w{3,25}[\s/+]*=[\s+]*['"\x60\w&%({\[]`,
  ),
  sign(
    'script-address',
    ['script'],
    5,
    'an address whose scheme runs script, and a call in it',
    raw`(?:${apart('java')}|${apart('vb')}|live)[\s\x00]*${apart('script')}\s*(?::|&colon;|&#\w+;?)`,
    raw`[^\r\n]{0,80}[(\x60=\[]`,
  ),
  sign(
    'script-call',
    ['script', 'code'],
    3,
    'a call of a function that script runs or shows something with',
    raw`\b(?:alert|confirm|prompt|eval|settimeout|setinterval|function|atob|fetch|constructor|import|expression`,
    raw`|execscript|open|write(?:ln)?|fromcharcode|call|apply)\s*(?:\(|\x60|\?\.)`,
  ),
  sign(
    'script-object',
    ['script'],
    5,
    'a member of the document or window that script reads or writes',
    raw`\b(?:document|window|self|top|parent|this|globalthis|location|frames)\s*(?:\?\.|\.|\[)\s*['"/]?`,
    raw`(?:cookie|domain|write|location|alert|eval|body|url|createelement|getelement|innerhtml|referrer|constructor)`,
  ),
  sign(
    'script-entity',
    ['script'],
    3,
    'a character written as an entity that needs none',
    raw`&(?:#x?0*[0-9a-f]{2,6};?|tab;|newline;|colon;|lpar;|lt;)`,
  ),
  sign(
    'style-script',
    ['script'],
    5,
    'style, data or an attribute that loads markup or script',
    raw`expression\s*\(|-moz-binding|behaviou?r\s*:|@import|data\s*:\s*(?:text/|[^,]{0,40}base64)|srcdoc\s*=`,
    raw`|xlink:href|formaction\s*=|vbscript\s*:|mhtml:`,
  ),
  sign(
    'script-obfuscated',
    ['script', 'code'],
    3,
    'script without letters, or letters as escapes',
    raw`\[\]\s*\[|!\[\]|\+\[\]|\(\)\[|\\x[0-9a-f]{2}|\\u00[0-9a-f]{2}|\$\{[^}]{0,40}\(`,
  ),
  sign(
    'xml-entity',
    ['script', 'file', 'code'],
    5,
    'a document type, entity or inclusion of XML',
    raw`<!(?:entity|doctype|\[cdata|attlist|element)|\b(?:system|public)\s+["'](?:file|https?|ftp|php|/)`,
    raw`|<xi:include|<\?xml-stylesheet`,
  ),
];
