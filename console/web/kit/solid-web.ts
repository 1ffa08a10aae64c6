// Solid's renderer, with its one sink for markup behind a Trusted Types policy. The compiler turns the fixed parts of
// a component into a string that `template` parses once; nothing else in the console makes markup out of text, and
// with this policy (the only one that the Content-Security-Policy allows) nothing else can.
export * from 'solid-js-web-original';

interface TemplatePolicy {
  createHTML(html: string): string;
}

declare global {
  interface Window {
    readonly trustedTypes?: { createPolicy(name: string, rules: TemplatePolicy): TemplatePolicy };
  }
}

const rules: TemplatePolicy = { createHTML: (html) => html };
const policy = window.trustedTypes?.createPolicy('gatehouse-templates', rules) ?? rules;

interface TemplateFactory {
  (): Node;
  cloneNode: () => Node;
}

/** As solid-js/web has it: parsed at the first use, cloned at each. `html` is a constant that the compiler wrote. */
export function template(html: string, isImportNode?: boolean, isSvg?: boolean): TemplateFactory {
  let parsed: Node | null = null;
  const parse = (): Node => {
    const holder = document.createElement('template');
    holder.innerHTML = policy.createHTML(html);
    const first = holder.content.firstChild;
    const node = isSvg ? first?.firstChild : first;
    if (node == null) throw new Error(`an empty template: ${html}`);
    return node;
  };
  const create = (): Node => {
    parsed ??= parse();
    return isImportNode ? document.importNode(parsed, true) : parsed.cloneNode(true);
  };
  return Object.assign(create, { cloneNode: create });
}
