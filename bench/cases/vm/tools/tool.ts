// What a tool is to the case: how it is run, and how its report is counted without the importer.

export interface Tool {
  readonly name: string;
  /** Of POST /imports. */
  readonly format: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Records that the report has. */
  readonly count: (text: string) => number;
  /** Of these the findings; absent: all of them. */
  readonly findings?: (text: string) => number;
  /** Of a bill of material: how many components it lists. */
  readonly components?: (text: string) => number;
  /** Absent: the project itself. */
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Where it writes its report; absent: to its output. */
  readonly file?: string;
  /** Absent: two minutes. */
  readonly timeoutMs?: number;
}

export type Json = Record<string, unknown>;

export const none = (): number => 0;

export const sarifResults = (text: string): number =>
  (JSON.parse(text) as { runs: { results?: unknown[] }[] }).runs.reduce((n, run) => n + (run.results?.length ?? 0), 0);

export const listIn =
  (name: string) =>
  (text: string): number =>
    ((JSON.parse(text) as Json)[name] as unknown[] | undefined)?.length ?? 0;

/** Elements of an XML report that begin a line or follow another one. */
export const elements =
  (name: string) =>
  (text: string): number =>
    text.match(new RegExp(`<${name}[\\s>]`, 'g'))?.length ?? 0;

/** Every vulnerability once for each component that it affects. */
export const affected = (text: string): number =>
  (JSON.parse(text) as { vulnerabilities?: { affects: unknown[] }[] }).vulnerabilities?.reduce(
    (sum, { affects }) => sum + affects.length,
    0,
  ) ?? 0;

interface Nested {
  readonly components?: readonly Nested[];
}
/** Of CycloneDX, with those that are inside others: a library may bring its own. */
export function nestedComponents(text: string): number {
  const countOf = ({ components = [] }: Nested): number => components.reduce((sum, one) => sum + 1 + countOf(one), 0);
  return countOf(JSON.parse(text) as Nested);
}

/** Advisories only: a text in `via` names a package that is listed by itself. */
export const advisories = (text: string): number =>
  Object.values((JSON.parse(text) as { vulnerabilities: Record<string, { via: unknown[] }> }).vulnerabilities).reduce(
    (sum, { via }) => sum + via.filter((one) => typeof one === 'object').length,
    0,
  );

interface RetiredFile {
  readonly results: readonly { readonly vulnerabilities?: readonly unknown[] }[];
}
/** Of `json` and of `jsonsimple`. */
export function retired(text: string): number {
  const report = JSON.parse(text) as RetiredFile[] | { readonly data: readonly RetiredFile[] };
  const files = Array.isArray(report) ? report : report.data;
  return files
    .flatMap(({ results }) => results)
    .reduce((sum, { vulnerabilities = [] }) => sum + vulnerabilities.length, 0);
}

export const lynisLines =
  (names: string) =>
  (text: string): number =>
    text.match(new RegExp(`^(?:${names})\\[\\]=`, 'gm'))?.length ?? 0;
