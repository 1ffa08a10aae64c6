// XML of reports: elements of one name as small trees, one after the other. A document type with a subset of its own is
// refused where it declares entities: with it come some that grow without end, or that read files (CWE-776, CWE-611).
// One that only names a document (nmap and property lists have it), or says which elements it has (Burp Suite),
// declares none, and nothing is fetched.
import { ApiError } from '#http-kit';
import { createReadStream } from 'node:fs';
import { SaxesParser } from 'saxes';
import type { ReportFile } from './report-file.js';

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

const depthMax = 64;
const elementsMax = 200_000;
const textMax = 1024 * 1024;
/** Of an element whose end nobody reads, such as a response. */
const cutTextMax = 64 * 1024;
const doctypeMax = 20_000;

/** It names a document, and declares elements and attributes at most; a parameter (`%`) could lead elsewhere. */
const isHarmless = (doctype: string): boolean =>
  !/[[<]|\bENTITY\b/.test(doctype) ||
  (doctype.length <= doctypeMax && /^[^[<]*\[(?:\s|<!(?:ELEMENT|ATTLIST)\s[^<>%&]*>)*\]\s*$/.test(doctype));

const refuse = (why: string): ApiError => new ApiError('malformed_request', `The report ${why}.`);

/** Yields `[element, ancestors]` for each element that is wanted; ancestors have attributes and no children. */
export async function* readXml(
  file: ReportFile,
  isWanted: (name: string) => boolean,
  /** Of the wanted ones, those that are only passed through: yielded without children, at their end. */
  outer: readonly string[] = [],
  /** Elements whose text is cut where it is long; that of others is refused. */
  cut: readonly string[] = [],
): AsyncGenerator<readonly [Element, readonly Element[]]> {
  const parser = new SaxesParser();
  const stack: Element[] = [];
  const found: (readonly [Element, readonly Element[]])[] = [];
  let within: number | null = null;
  let elements = 0;
  let failure: Error | null = null;
  parser.on('error', (error) => void (failure ??= refuse(`is no well-formed XML: ${error.message.slice(0, 200)}`)));
  parser.on('doctype', (text) => {
    if (!isHarmless(text)) failure ??= refuse('has a document type with declarations, which is not taken');
  });
  parser.on('opentag', ({ name: tag, attributes }) => {
    if (stack.length >= depthMax)
      failure ??= new ApiError('nested_too_deep', `The report nests deeper than ${depthMax} levels.`);
    if (++elements > elementsMax * 20) failure ??= new ApiError('body_too_large', 'The report has too many elements.');
    const element: Element = { name: tag, attributes: attributes, children: [], text: '' };
    if (within !== null) stack.at(-1)?.children.push(element);
    stack.push(element);
    if (within === null && isWanted(tag) && !outer.includes(tag)) within = stack.length;
  });
  const addText = (text: string): void => {
    const top = stack.at(-1);
    if (top === undefined || within === null) return;
    if (cut.includes(top.name)) {
      top.text += text.slice(0, Math.max(0, cutTextMax - top.text.length));
      return;
    }
    if (top.text.length + text.length > textMax) failure ??= new ApiError('body_too_large', 'An element is too long.');
    else top.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const element = stack.pop();
    if (element === undefined) return;
    if (within === null && outer.includes(element.name) && isWanted(element.name)) found.push([element, [...stack]]);
    if (within === null || stack.length >= within) return;
    within = null;
    found.push([element, [...stack]]);
  });
  for await (const chunk of createReadStream(file.path, { encoding: 'utf8' })) {
    parser.write(chunk as string);
    if (failure !== null) throw failure as Error;
    yield* found.splice(0);
  }
  parser.close();
  if (failure !== null) throw failure as Error;
  yield* found.splice(0);
}

export const childText = (element: Element, name: string): string =>
  element.children.find((child) => child.name === name)?.text.trim() ?? '';

export const childrenOf = (element: Element | undefined, name: string): readonly Element[] =>
  element?.children.filter((child) => child.name === name) ?? [];
