// What a page of HTML holds: links, forms, where a text stands in it. Read by parse5, which reads as browsers do.
import { parse, type DefaultTreeAdapterMap } from 'parse5';

type Node = DefaultTreeAdapterMap['node'];
export type Element = DefaultTreeAdapterMap['element'];

export interface Page {
  readonly links: readonly { readonly url: string; readonly words: string }[];
  readonly forms: readonly HtmlForm[];
  /** Which elements stand in it, in order; texts do not count. */
  readonly outline: string;
  readonly scripts: readonly string[];
  /** Scripts may change what it shows. */
  readonly runsScripts: boolean;
}

export interface HtmlField {
  readonly name: string;
  readonly value: string;
  readonly type: string;
}

export interface HtmlForm {
  readonly method: 'GET' | 'POST';
  readonly action: string;
  readonly fields: readonly HtmlField[];
  readonly isMultipart: boolean;
  /** It says neither where it leads nor how: on a page with scripts one of them reads it. */
  readonly isBare: boolean;
  readonly words: string;
}

const parsedMax = 1_000_000;
const nodesMax = 100_000;

const isElement = (node: Node): node is Element => 'tagName' in node;
export const attributeOf = (element: Element, name: string): string | null =>
  element.attrs.find((one) => one.name === name)?.value ?? null;

/**
 * Every node, in the order of the document; templates' contents, too. Where scripts do not run, what stands in noscript
 * is a part of the page.
 */
export function nodesOf(html: string, runsScripts = true): Node[] {
  const nodes: Node[] = [];
  const waiting: Node[] = [parse(html.slice(0, parsedMax), { scriptingEnabled: runsScripts })];
  while (waiting.length > 0 && nodes.length < nodesMax) {
    const node = waiting.pop() as Node;
    nodes.push(node);
    const children = 'content' in node ? node.content.childNodes : 'childNodes' in node ? node.childNodes : [];
    for (let at = children.length - 1; at >= 0; at--) waiting.push(children[at] as Node);
  }
  return nodes;
}

export const elementsOf = (html: string, runsScripts = true): Element[] => nodesOf(html, runsScripts).filter(isElement);

export function textOf(node: Node): string {
  if ('value' in node && node.nodeName === '#text') return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join(' ') : '';
}

const linkAttributes: Readonly<Record<string, string>> = {
  a: 'href',
  area: 'href',
  iframe: 'src',
  frame: 'src',
  embed: 'src',
  object: 'data',
  script: 'src',
  link: 'href',
  img: 'src',
};

function resolve(address: string, base: string): string | null {
  const trimmed = address.trim();
  if (trimmed === '' || /^(?:javascript|data|mailto|tel|blob|about):/i.test(trimmed)) return null;
  if (!URL.canParse(trimmed, base)) return null;
  const url = new URL(trimmed, base);
  url.hash = '';
  return /^https?:$/.test(url.protocol) ? url.href : null;
}

/** Where a page leads by itself after a while; null: the element says nothing of that. */
export const refreshOf = (element: Element): string | null =>
  element.tagName === 'meta' && /refresh/i.test(attributeOf(element, 'http-equiv') ?? '')
    ? (/url\s*=\s*['"]?([^'"]+)/i.exec(attributeOf(element, 'content') ?? '')?.[1] ?? null)
    : null;

/** Addresses in texts of scripts: quoted, absolute within the site, and of no odd characters. */
const inScripts = /["'`](\/[\w\-./]{1,120}(?:\?[\w\-.=&%]{0,120})?)["'`]/g;

function valueOfSelect(element: Element): string {
  const options = element.childNodes.filter(isElement).filter(({ tagName }) => tagName === 'option');
  const chosen = options.find((one) => attributeOf(one, 'selected') !== null) ?? options[0];
  return chosen === undefined ? '' : (attributeOf(chosen, 'value') ?? textOf(chosen).trim());
}

function fieldOf(element: Element): HtmlField | null {
  const name = attributeOf(element, 'name');
  if (name === null || name === '' || attributeOf(element, 'disabled') !== null) return null;
  const type = (attributeOf(element, 'type') ?? '').toLowerCase();
  if (element.tagName === 'select') return { name, type: 'select', value: valueOfSelect(element) };
  if (element.tagName === 'textarea') return { name, type: 'text', value: textOf(element) };
  if (element.tagName === 'button' || type === 'submit' || type === 'image' || type === 'reset') return null;
  return { name, type, value: attributeOf(element, 'value') ?? (type === 'checkbox' ? 'on' : '') };
}

function below(element: Element): Element[] {
  const found: Element[] = [];
  const walk = (node: Element): void => {
    for (const child of node.childNodes)
      if (isElement(child)) {
        found.push(child);
        walk(child);
      }
  };
  walk(element);
  return found;
}

const fieldTags: ReadonlySet<string> = new Set(['input', 'select', 'textarea', 'button']);

function formOf(element: Element, base: string): HtmlForm | null {
  const action = resolve(attributeOf(element, 'action') ?? base, base);
  if (action === null) return null;
  const inside = below(element);
  const fields = new Map<string, HtmlField>();
  for (const one of inside.filter(({ tagName }) => fieldTags.has(tagName))) {
    const field = fieldOf(one);
    if (field !== null && !fields.has(field.name)) fields.set(field.name, field);
  }
  return {
    method: (attributeOf(element, 'method') ?? '').toUpperCase() === 'POST' ? 'POST' : 'GET',
    action,
    fields: [...fields.values()],
    isBare: attributeOf(element, 'action') === null && attributeOf(element, 'method') === null,
    isMultipart: /multipart/i.test(attributeOf(element, 'enctype') ?? ''),
    words: [textOf(element), ...inside.map((one) => attributeOf(one, 'value') ?? '')].join(' ').slice(0, 2000),
  };
}

/** Data in an element of a script is none. */
const isScript = (one: Element): boolean =>
  one.tagName === 'script' &&
  /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/i.test((attributeOf(one, 'type') ?? '').trim()) &&
  (attributeOf(one, 'src') !== null || textOf(one).trim() !== '');

export function readPage(html: string, address: string): Page {
  const elements = elementsOf(html, false);
  const baseHref = elements.find(({ tagName }) => tagName === 'base');
  const base = resolve((baseHref && attributeOf(baseHref, 'href')) ?? address, address) ?? address;
  const links = new Map<string, string>();
  const scripts: string[] = [];
  const take = (text: string | null, words: string): void => {
    const url = text === null ? null : resolve(text, base);
    if (url !== null && !links.has(url)) links.set(url, words.slice(0, 200));
  };
  for (const one of elements) {
    const name = linkAttributes[one.tagName];
    if (name !== undefined) take(attributeOf(one, name), textOf(one));
    for (const part of (attributeOf(one, 'srcset') ?? '').split(',')) take(part.trim().split(/\s/)[0] ?? null, '');
    take(refreshOf(one), '');
    if (one.tagName === 'script') scripts.push(textOf(one));
  }
  for (const script of scripts) for (const [, path] of script.matchAll(inScripts)) take(path ?? null, '');
  return {
    links: [...links].map(([url, words]) => ({ url, words })),
    forms: elements.filter(({ tagName }) => tagName === 'form').flatMap((one) => formOf(one, base) ?? []),
    outline: elements.map(({ tagName }) => tagName).join(' '),
    scripts,
    runsScripts: elements.some((one) => isScript(one) || one.attrs.some(({ name }) => name.startsWith('on'))),
  };
}

/** Paths that a script of its own file names. */
export const pathsInScript = (text: string): string[] =>
  [...text.slice(0, parsedMax).matchAll(inScripts)].map(([, path]) => path ?? '');
