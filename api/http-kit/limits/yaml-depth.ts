// How deep a text of YAML nests, before it is read: the reader calls itself for each level, and a process whose stack
// is full in the wrong moment ends as a whole (V8 compiles no expression there, and takes that for a lack of memory).
import { Parser, type CST } from 'yaml';

type Part = CST.Token | CST.Token[] | null | undefined;

/** Whether collections stand in more than so many others. Never throws; the text need not be valid. */
export function isYamlDeeper(text: string, levels: number): boolean {
  for (const token of new Parser().parse(text)) {
    const open: [part: Part, depth: number][] = [[token, 0]];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [part, depth] = next;
      if (depth > levels) return true;
      if (part === null || part === undefined || Array.isArray(part)) continue;
      if (part.type === 'document') open.push([part.value, depth]);
      else if ('items' in part)
        for (const { key, value } of part.items as readonly { key?: Part; value?: Part }[])
          open.push([key, depth + 1], [value, depth + 1]);
    }
  }
  return false;
}
