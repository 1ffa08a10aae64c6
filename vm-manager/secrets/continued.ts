// Values that go on: the further parts of a literal that is put together, and the members of a secret of Kubernetes.
import { hide, isPlaceholder, isSecretLiteral } from './values.js';
import { isGiven } from './spellings/spelling.js';

const partsMax = 8;
/** `"****" + "value"`, also over lines, and with the operators of PHP, Lua, Visual Basic and SQL. */
const further =
  /(\*{4}\\?["'`]\s{0,3}\\?\s{0,40}(?:\+|\.{1,2}|&|\|\||<>)\s{0,40}(\\?["'`]))([^\s"'`\\*]{1,200})(?=\2)/g;
export const mayGoOn = '\\*{4}\\\\?["\'`]\\s{0,3}\\\\?\\s{0,40}(?:[+.&<]|\\|\\|)|stringdata';

/** The text where a literal that is masked is masked to its end. */
export function maskFurther(given: string): string {
  let text = given;
  for (let part = 0; part < partsMax && text.includes('****'); part++) {
    const masked = text.replace(further, (all, head: string, _quote: string, value: string) =>
      isPlaceholder(value) || (value.length >= 3 && !isSecretLiteral(value)) ? all : head + hide(value),
    );
    if (masked === text) break;
    text = masked;
  }
  return text;
}

const head = /^([ \t]{0,40}(?:- )?)["']?stringData["']?:[ \t]{0,20}\r?$/;
const member =
  /^([ \t]{1,80}["']?[\w.-]{1,100}["']?:[ \t]{1,20}["']?)([^\s"'|>#][^"'\n\r]{1,2000}?)(?=["']?[ \t]{0,20}\r?$)/;
/** `name: |`, `name: >-`: what is indented further is one value. */
const scalar = /^[ \t]{1,80}["']?[\w.-]{1,100}["']?:[ \t]{1,20}[|>][-+\d]{0,3}[ \t]{0,20}(?:#[^\n]{0,200})?\r?$/;
/** A line of a configuration that is such a value. */
const setting =
  /^([ \t]{0,80}(?:- )?["']?[\w.$[\]-]{1,100}["']?[ \t]{0,5}[:=][ \t]{0,5}["']?)([^\s"'][^\n\r]{0,2000}?)(?=["']?\r?$)/;
const flow = /(["']?stringData["']?:\s{0,20}\{)([^{}]{1,4000})/g;
const flowMember = /(["']?[\w.-]{1,100}["']?:\s{0,20}["']?)([^\s"',{}][^"',{}\n]{1,1000})/g;
const hidden = (_: string, before: string, value: string): string => before + (isGiven(value) ? hide(value) : value);
const indentOf = (line: string): number => /^[ \t]*/.exec(line)?.[0].length ?? 0;

/** A line of a value of several: of `name: value` the name stays, of others the place. */
function hideLine(line: string): string {
  if (!/\S/.test(line) || /\*{4}/.test(line) || /^[ \t]*(?:#|["']?[\w.-]{1,100}["']?:\s*$)/.test(line)) return line;
  if (setting.test(line)) return line.replace(setting, hidden);
  const indent = indentOf(line);
  return line.slice(0, indent) + hide(line.slice(indent).trimEnd());
}

/** `stringData:` and the lines that are indented further, in which everything is the value of a secret. */
function maskBlocks(text: string): string {
  const lines = text.split('\n');
  /** Indentation of `stringData`, and of the name of a value of several lines; -1: there is none. */
  let [from, held] = [-1, -1];
  return lines
    .map((line) => {
      const start = head.exec(line);
      if (start !== null) {
        [from, held] = [start[1]?.length ?? 0, -1];
        return line;
      }
      if (from < 0 || !/\S/.test(line)) return line;
      const indent = indentOf(line);
      if (indent <= from) {
        from = -1;
        return line;
      }
      if (held >= 0 && indent > held) return hideLine(line);
      held = scalar.test(line) ? indent : -1;
      return line.replace(member, hidden);
    })
    .join('\n');
}

/** The text without the values of secrets of Kubernetes. */
export function maskManifests(text: string): string {
  if (!text.includes('stringData')) return text;
  return maskBlocks(text).replace(
    flow,
    (_, before: string, members: string) => before + members.replace(flowMember, hidden),
  );
}
