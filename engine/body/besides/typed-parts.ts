// Parts of a form that say what they are. Frameworks hand such a part to the reader of its type, whether it has a file
// name (a browser gives a `Blob` the name "blob") or none, and rules never see the content of files.
import type { BodyLimits, BodySink } from '../body.js';
import { addMembersOfFile } from './json.js';
import { beginsLikeXml, processXmlBesides } from './xml.js';

const jsonType = /^content-type:[ \t]*(?:text|application)\/(?:[a-z0-9.-]+\+)?json\b/i;
const xmlType = /^content-type:[ \t]*(?:text|application)\/(?:[a-z0-9.-]+\+)?xml\b/i;

/**
 * What a part called JSON holds → argsPost, named `part.member` (of fields the caller reads it); of one called XML →
 * xmlText, xmlAttributes, xmlExternal. One that is longer than bodies without files may be stays unread. The error of
 * XML whose text is not known, else null.
 */
export function readTypedPart(
  part: { readonly headers: readonly string[]; readonly name: string; readonly isFile: boolean },
  content: Buffer,
  sink: BodySink,
  limits: BodyLimits,
): string | null {
  if (content.length > limits.noFilesBytesMax) return null;
  if (part.isFile && part.headers.some((line) => jsonType.test(line)))
    addMembersOfFile(content, part.name, sink.argsPost, limits);
  if (!part.headers.some((line) => xmlType.test(line)) || !beginsLikeXml(content)) return null;
  return processXmlBesides(content, sink, limits).error;
}
