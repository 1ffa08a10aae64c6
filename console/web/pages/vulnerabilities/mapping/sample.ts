// The names that a report has, so that whoever writes a mapping chooses them instead of typing them: the head line of a
// CSV, dotted paths of the first row of JSON, each with the value that stands there.

export interface SampleName {
  readonly name: string;
  /** Of the first row; empty: it has none. */
  readonly value: string;
}

export type Sample =
  | { readonly names: readonly SampleName[]; readonly lists: readonly string[] }
  | { readonly problem: 'no-json'; readonly detail: string }
  | { readonly problem: 'no-list'; readonly lists: readonly string[] }
  | { readonly problem: 'no-head' };

const depthMax = 4;
const namesMax = 100;
const valueMax = 80;

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Cells of a line; a cell in quotes may hold the delimiter, and two quotes are one. */
function cellsOf(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] as string;
    if (letter === '"' && isQuoted && line[at + 1] === '"') {
      cell += letter;
      at += 1;
    } else if (letter === '"') isQuoted = !isQuoted;
    else if (letter === delimiter && !isQuoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += letter;
  }
  return [...cells, cell.trim()];
}

function readCsv(text: string): Sample {
  const [head = '', first = ''] = text.replace(/^\ufeff/, '').split(/\r?\n/, 2);
  if (head.trim() === '') return { problem: 'no-head' };
  // as the import tells them apart: the one that makes most cells of the head
  const delimiter = [',', ';', '\t', '|'].reduce((best, one) =>
    head.split(one).length > head.split(best).length ? one : best,
  );
  const values = cellsOf(first, delimiter);
  const names = cellsOf(head, delimiter).slice(0, namesMax);
  return {
    names: names.flatMap((name, at) => (name === '' ? [] : [{ name, value: (values[at] ?? '').slice(0, valueMax) }])),
    lists: [],
  };
}

const under = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** Dotted paths of what an object holds; of lists the first element. */
function namesOf(value: unknown, path: string, depth: number): SampleName[] {
  if (!isObject(value)) return path === '' ? [] : [{ name: path, value: String(value).slice(0, valueMax) }];
  if (depth === 0) return [];
  const isList = Array.isArray(value);
  // a list of words is taken as it is: references, weaknesses
  if (isList && !isObject(value[0])) return [{ name: path, value: value.join(', ').slice(0, valueMax) }];
  const entries = Object.entries(value).slice(0, isList ? 1 : namesMax);
  return entries.flatMap(([name, one]) => namesOf(one, under(path, name), depth - 1));
}

/** Dotted paths of lists of objects; empty: the value itself is one. */
function listsIn(value: unknown, path: string, depth: number): string[] {
  if (Array.isArray(value)) return isObject(value[0]) ? [path] : [];
  if (!isObject(value) || depth === 0) return [];
  return Object.entries(value).flatMap(([name, one]) => listsIn(one, under(path, name), depth - 1));
}

const at = (value: unknown, path: string): unknown =>
  path === '' ? value : path.split('.').reduce<unknown>((one, name) => (isObject(one) ? one[name] : undefined), value);

function readJson(text: string, rowsPath: string): Sample {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: 'no-json', detail: error instanceof Error ? error.message : String(error) };
  }
  const lists = listsIn(value, '', depthMax);
  const rows = at(value, rowsPath);
  if (!Array.isArray(rows)) return { problem: 'no-list', lists };
  return { names: namesOf(rows[0], '', depthMax).slice(0, namesMax), lists };
}

/** What a report of this format offers; `rowsPath` is read of JSON only. */
export const readSample = (text: string, format: 'json' | 'csv', rowsPath: string): Sample =>
  format === 'csv' ? readCsv(text) : readJson(text, rowsPath.trim());
