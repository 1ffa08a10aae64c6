// Whether a row of a cases file is a case of the CRS regression format, said for a person.

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isIds = (value: unknown): boolean => Array.isArray(value) && value.every((id) => Number.isInteger(id));
const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** An expression that `judgeStage` will try; null: it is one, or it is left out. */
function problemOfPattern(value: unknown, name: string): string | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'string') return `${name} has to be a regular expression as a string`;
  try {
    new RegExp(value);
    return null;
  } catch (error) {
    return `${name} is no regular expression (${(error as Error).message})`;
  }
}

function problemOfLog(log: unknown, place: string): string | null {
  if (isAbsent(log)) return null;
  if (!isObject(log)) return `${place}.log has to be an object`;
  for (const name of ['expect_ids', 'no_expect_ids'])
    if (!isAbsent(log[name]) && !isIds(log[name])) return `${place}.log.${name} has to be a list of rule ids`;
  return (
    problemOfPattern(log['match_regex'], `${place}.log.match_regex`) ??
    problemOfPattern(log['no_match_regex'], `${place}.log.no_match_regex`)
  );
}

function problemOfStage(stage: unknown, place: string): string | null {
  if (!isObject(stage)) return `${place} has to be an object`;
  if (typeof stage['wire_b64'] !== 'string')
    return `${place}.wire_b64 has to be a string: the bytes of the request in base64`;
  const { output } = stage;
  if (!isObject(output)) return `${place}.output has to be an object`;
  for (const name of ['expect_error', 'isolated'])
    if (!isAbsent(output[name]) && typeof output[name] !== 'boolean')
      return `${place}.output.${name} has to be true or false`;
  if (!isAbsent(output['status']) && !Number.isInteger(output['status']))
    return `${place}.output.status has to be a number`;
  return (
    problemOfPattern(output['response_contains'], `${place}.output.response_contains`) ??
    problemOfLog(output['log'], `${place}.output`)
  );
}

/** What keeps a parsed row from being a case; null: nothing. */
export function problemOfCase(row: unknown): string | null {
  if (!isObject(row)) return 'a case has to be an object with id, file and stages';
  for (const name of ['id', 'file']) if (typeof row[name] !== 'string') return `${name} has to be a string`;
  const { stages } = row;
  if (!Array.isArray(stages)) return 'stages has to be a list';
  for (const [index, stage] of stages.entries()) {
    const problem = problemOfStage(stage, `stages[${index}]`);
    if (problem !== null) return problem;
  }
  return null;
}
