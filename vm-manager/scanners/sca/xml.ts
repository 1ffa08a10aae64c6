// XML as a tree of elements without namespaces, bounded; entities of a document type are not resolved.
import { SaxesParser } from 'saxes';

const elementsMax = 200_000;
const depthMax = 100;

export class XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[] = [];
  text = '';

  constructor(name: string, attributes: Readonly<Record<string, string>>) {
    [this.name, this.attributes] = [name, attributes];
  }

  child(name: string): XmlElement | undefined {
    return this.children.find((one) => one.name === name);
  }

  /** All below it, in the order of the document. */
  all(name: string): XmlElement[] {
    return this.children.flatMap((one) => [...(one.name === name ? [one] : []), ...one.all(name)]);
  }
}

/** Throws an Error for what is no XML, or more than is taken. */
export function readXml(text: string): XmlElement {
  const root = new XmlElement('', {});
  const open: XmlElement[] = [root];
  let count = 0;
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (++count > elementsMax || open.length > depthMax) throw new Error('has too many elements');
    const made = new XmlElement(name.replace(/^.*:/, ''), attributes);
    open.at(-1)?.children.push(made);
    open.push(made);
  });
  parser.on('closetag', () => {
    open.pop();
  });
  parser.on('text', (piece) => {
    const last = open.at(-1);
    if (last !== undefined) last.text += piece;
  });
  parser.write(text.replace(/^\ufeff/, '')).close();
  return root;
}
