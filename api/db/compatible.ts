// Which older releases work with a schema that a newer one has changed, so that a release can be taken back. Migrations
// expand first (a table, a column, an index more, which an older program does not ask for) and contract a release
// later, when nobody reads the old shape any more. One that only expands says which release it leaves working:
//
//   -- works with release 0.4.0
//
// That is written into the database when it runs. An older program that finds migrations of a later release starts
// where each of them names a release that is not newer than itself, and refuses otherwise.
const header = /^-- works with release (\S+)$/m;

/** What takes something away, or asks of rows what an older program does not give them: that is contracting. */
const contracting: readonly (readonly [RegExp, string])[] = [
  [/\bdrop\s+(?!not\s+null\b|default\b)/, 'drops something'],
  [/\brename\b/, 'renames something'],
  [/\balter\s+(?:column\s+)?\S+\s+(?:set\s+data\s+)?type\b/, 'changes the type of a column'],
  [/\bset\s+not\s+null\b/, 'forbids null in a column that is there'],
  [/\badd\s+(?:constraint\s+\S+\s+)?(?:check|unique|foreign\s+key|primary\s+key|exclude)\b/, 'adds a constraint'],
  [/\bcreate\s+unique\s+index\b/, 'adds a constraint'],
  [/\bcreate\s+(?:or\s+replace\s+)?(?:constraint\s+)?trigger\b/, 'adds a trigger'],
  [/\b(?:delete\s+from|truncate)\b/, 'removes rows'],
];
const addsColumn = /\badd\s+(?:column\s+)?(?!constraint\b|check\b|unique\b|foreign\b|primary\b)[^,]*/g;

function contractionIn(statement: string): string | null {
  const [, what] = contracting.find(([pattern]) => pattern.test(statement)) ?? [];
  if (what !== undefined) return what;
  const isUnfilled = (column: string): boolean =>
    /\bnot\s+null\b|\bprimary\s+key\b/.test(column) && !/\bdefault\b|\bgenerated\b/.test(column);
  return /\balter\s+table\b/.test(statement) && (statement.match(addsColumn) ?? []).some(isUnfilled)
    ? 'adds a column that older programs do not fill'
    : null;
}

/** Without comments, in small letters; texts are emptied. */
const bare = (text: string): string =>
  text
    .replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .toLowerCase();

/**
 * The oldest release that works with the schema after this migration; null: only those that know it. `label` names it
 * in errors. Throws where the text says that it only expands, and does not.
 */
export function worksWith(label: string, text: string): string | null {
  const named = header.exec(text)?.[1];
  if (named === undefined) return null;
  if (!/^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(named))
    throw new Error(`Migration ${label}: "${named}" is no release; write -- works with release 1.2.3`);
  const statements = bare(text).split(';');
  const tableIn = (pattern: RegExp, statement: string): string | undefined => pattern.exec(statement)?.[1];
  // what it makes itself it may shape as it likes
  const own = new Set(statements.map((one) => tableIn(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?([\w."]+)/, one)));
  const isOfOwn = (statement: string): boolean => {
    const table = tableIn(/\b(?:alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?|\son\s+)([\w."]+)/, statement);
    return table !== undefined && own.has(table);
  };
  for (const statement of statements) {
    const what = isOfOwn(statement) ? null : contractionIn(statement);
    if (what !== null)
      throw new Error(
        `Migration ${label} says that release ${named} works with it, and ${what}. Expand now; contract in a later ` +
          'release, in a migration without that line.',
      );
  }
  return named;
}
