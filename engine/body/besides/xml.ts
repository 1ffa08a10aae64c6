// XML under another type, or under none: what reads XML from a request often does so whatever the type says, and
// character references and CDATA sections hide from rules what it makes of the text.
import { createBodySink } from '../empty-sink.js';
import type { BodyLimits, BodyOutcome, BodySink } from '../body.js';
import { processXml } from '../xml.js';

const fine: BodyOutcome = { error: null, truncated: false };

/** Whether the body begins with `<` behind a byte order mark and white space. */
export function beginsLikeXml(body: Buffer): boolean {
  let at = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  while (at < body.length && (body[at] as number) <= 0x20) at += 1;
  return body[at] === 0x3c;
}

/** `<!DOCTYPE` with declarations of its own, whose literals stand behind those of the document type. */
const declares = /<!(?:ENTITY|ATTLIST|NOTATION|ELEMENT)/;

/**
 * What the document refers to, without the document types of pages and pictures that programs write into what they
 * save: nobody chooses that host. Where nothing else is declared, the last of the texts is the system identifier.
 */
function chosenReferences(body: Buffer, { xmlExternal, xmlText }: BodySink): readonly string[] {
  const isOfStandards = /^https?:\/\/www\.w3\.org\//.test(xmlText.at(-1) ?? '');
  if (!isOfStandards || declares.test(body.toString('latin1'))) return xmlExternal;
  return xmlExternal.filter((one) => !one.startsWith('DOCTYPE PUBLIC -//W3C//'));
}

/**
 * Texts, attributes and external references of a body that begins like XML → xmlText, xmlAttributes, xmlExternal, as
 * far as it can be read. That it is no XML after all is no error, for nobody said that it was; one that declares
 * entities has said so, and what they would make of its text is not known.
 */
export function processXmlBesides(body: Buffer, sink: BodySink, limits: BodyLimits): BodyOutcome {
  const found = createBodySink();
  const start = body.indexOf(0x3c);
  const outcome = processXml(body.subarray(start), '', found, { ...limits, parseXmlIntoArgs: false });
  sink.xmlText.push(...found.xmlText);
  sink.xmlAttributes.push(...found.xmlAttributes);
  sink.xmlExternal.push(...chosenReferences(body, found));
  return outcome.error !== null && body.includes('<!ENTITY') ? outcome : fine;
}
