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

/** `stringData:` and the lines that are indented further. */
const block =
  /((?:^|\n)([ \t]{0,40})["']?stringData["']?:[ \t]{0,20}\r?\n)((?:\2[ \t]{1,40}\S[^\n]{0,2000}(?:\n|$)){1,200})/g;
const member =
  /^([ \t]{1,80}["']?[\w.-]{1,100}["']?:[ \t]{1,20}["']?)([^\s"'][^"'\n\r]{1,1000}?)(?=["']?[ \t]{0,20}\r?$)/gm;
const flow = /(["']?stringData["']?:\s{0,20}\{)([^{}]{1,4000})/g;
const flowMember = /(["']?[\w.-]{1,100}["']?:\s{0,20}["']?)([^\s"',{}][^"',{}\n]{1,1000})/g;
const hidden = (_: string, head: string, value: string): string => head + (isGiven(value) ? hide(value) : value);

/** The text without the values of secrets of Kubernetes. */
export function maskManifests(text: string): string {
  if (!text.includes('stringData')) return text;
  return text
    .replace(block, (_, head: string, _indent: string, lines: string) => head + lines.replace(member, hidden))
    .replace(flow, (_, head: string, members: string) => head + members.replace(flowMember, hidden));
}
