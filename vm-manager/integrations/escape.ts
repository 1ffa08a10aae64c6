// Texts of findings in the languages of trackers: nothing in them is a link, a mention, a macro or a command there.

export type Format = 'adf' | 'wiki' | 'markdown' | 'plain';

/** Ends the word that a reference begins with, and shows nothing. */
const nothing = '\u200b';

/**
 * CommonMark: what means something stands behind a backslash. `@` and `#` refer to people and issues also behind one,
 * and GitLab runs a line that begins with `/` as a command.
 */
function toMarkdown(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()<>+\-.!|~$^&%"':=]/g, (mark) => (/['":.]/.test(mark) ? mark : `\\${mark}`))
    .replace(/[@#]/g, (mark) => `\\${mark}${nothing}`)
    .replace(/^(\s*)\//gm, '$1\\/')
    .replace(/^(\s*\d+)\./gm, '$1\\.')
    .replace(/^[ \t]{4,}/gm, '   ');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '\\': '&#92;' };

/** Jira's wiki markup: a backslash takes the meaning of a mark; a backslash itself is written as an entity. */
function toWiki(text: string): string {
  return text
    .replace(/[&\\{}[\]*_\-+^~?!|#@]/g, (mark) => entities[mark] ?? `\\${mark}`)
    .replace(/^(\s*(?:h[1-6]|bq))\./gm, '$1&#46;');
}

/** ServiceNow's journals take what stands between [code] and [/code] for HTML. */
const toPlain = (text: string): string => text.replace(/\[(\/?code)/gi, `[${nothing}$1`);

const formats: Readonly<Record<Format, (text: string) => string>> = {
  // a document of nodes: text in them is text
  adf: (text) => text,
  wiki: toWiki,
  markdown: toMarkdown,
  plain: toPlain,
};

/** Control characters go: trackers refuse them, or show nothing for them. */
const clean = (text: string): string =>
  // eslint-disable-next-line no-control-regex
  text.replace(/\r\n?/g, '\n').replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, '');

/** The text as it has to be written so that it is shown, and nothing else. */
export const escapeFor = (format: Format, text: string): string => formats[format](clean(text));

type Node = Readonly<Record<string, unknown>>;

const toText = (text: string): Node =>
  /^https?:\/\/\S+$/.test(text)
    ? { type: 'text', text, marks: [{ type: 'link', attrs: { href: text } }] }
    : { type: 'text', text };

function toParagraph(block: string): Node {
  const lines = block.split('\n').filter((line) => line.trim() !== '');
  const content = lines.flatMap((line, at) => (at === 0 ? [toText(line)] : [{ type: 'hardBreak' }, toText(line)]));
  return { type: 'paragraph', content };
}

/** Atlassian's document format (version 1): a paragraph a block, a break a line. */
export const toAdf = (text: string): Node => ({
  type: 'doc',
  version: 1,
  content: text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map(toParagraph),
});

const depthMax = 20;

/** The text of a document of Atlassian's, with a line for each paragraph; of a text: itself. */
export function fromAdf(node: unknown, depth = 0): string {
  if (typeof node === 'string') return node;
  if (typeof node !== 'object' || node === null || depth > depthMax) return '';
  const { type, text, content, attrs } = node as { type?: string; text?: string; content?: unknown; attrs?: Node };
  if (typeof text === 'string') return text;
  if (type === 'hardBreak') return '\n';
  if (type === 'mention' || type === 'emoji') return typeof attrs?.['text'] === 'string' ? attrs['text'] : '';
  const inner = Array.isArray(content) ? content.map((one) => fromAdf(one, depth + 1)) : [];
  return inner.join(type === 'paragraph' || type === 'heading' || type === 'text' ? '' : '\n');
}
