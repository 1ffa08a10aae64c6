// What an XML document asks its reader to fetch: XInclude, schema locations, style sheets. (System identifiers are
// found with the document type, prolog.ts.) Nothing is fetched here; a rule decides what becomes of such documents.

/** XInclude 1.0, and the namespace of its drafts that libxml2 still reads. */
const includeNamespaces: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/XInclude',
  'http://www.w3.org/2003/XInclude',
]);

/** Longer values are shown by their beginning. */
const shownMax = 200;

/** A name beside the document itself: what has a scheme, a host or a root lies elsewhere. */
function isElsewhere(location: string): boolean {
  return /[:\\]|^\//.test(location);
}

/**
 * What the attribute `name` (with its prefix, whatever that is bound to) would have fetched, or null. A declaration of
 * the XInclude namespace counts, because nothing but inclusion needs it. `schemaLocation` holds pairs of namespace and
 * location (XML Schema part 1 §2.6.3); an odd number of words is read as locations only.
 */
export function externalOfAttribute(name: string, value: string): string | null {
  const colon = name.indexOf(':');
  if (name === 'xmlns' || (colon === 5 && name.startsWith('xmlns')))
    return includeNamespaces.has(value.trim()) ? 'XInclude' : null;
  const local = colon < 0 ? name : name.slice(colon + 1);
  if (local !== 'schemaLocation' && local !== 'noNamespaceSchemaLocation') return null;
  const words = value.split(/[ \t\r\n]+/).filter((word) => word !== '');
  const isPairs = local === 'schemaLocation' && words.length % 2 === 0;
  const location = words.find((word, index) => (!isPairs || index % 2 === 1) && isElsewhere(word));
  return location === undefined ? null : `${local} ${location.slice(0, shownMax)}`;
}

/** The same of a processing instruction, given without `<?`: style sheets and schemas of the xml-model kind. */
export function externalOfInstruction(text: string): string | null {
  const [, target = ''] = /^(xml-stylesheet|xml-model)(?:[ \t\r\n]|$)/i.exec(text) ?? [];
  if (target === '') return null;
  // A sheet within the document is named by a fragment.
  return /href[ \t\r\n]*=[ \t\r\n]*["']#/.test(text)
    ? null
    : `${target.toLowerCase()} ${text.slice(target.length).trim()}`;
}
