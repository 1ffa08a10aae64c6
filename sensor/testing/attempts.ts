// What is sent to the flows: a value that attacks, values that are harmless, and where they stand in the request.

export interface Attempt {
  readonly flow: string;
  readonly place: 'query' | 'body' | 'form' | 'header' | 'cookie' | 'path';
  readonly attack: string;
  readonly harmless: readonly string[];
  readonly type: string;
}

const attempt = (
  flow: string,
  place: Attempt['place'],
  type: string,
  attack: string,
  ...harmless: readonly string[]
): Attempt => ({ flow, place, type, attack, harmless });

const [sql, command, file, code] = ['sql_injection', 'command_injection', 'path_traversal', 'code_injection'];

/** `inner` is a server on loopback, `directory` the one of the application. */
export const attempts = (inner: string, directory: string): readonly Attempt[] => [
  attempt('sql-text', 'query', sql, "x' OR '1'='1", 'blue', "O''Brien", 'salt and pepper'),
  attempt('sql-text', 'cookie', sql, "y' OR 'a'='a", 'green'),
  attempt('sql-text', 'header', sql, "z' OR 1=1 --", 'tenant-7'),
  attempt('sql-text', 'path', sql, "p' UNION SELECT 1 --", 'seven'),
  attempt('sql-number', 'query', sql, '1 OR 1=1', '117'),
  attempt('sql-number', 'body', sql, '2 UNION SELECT version()', '118'),
  attempt('sql-order', 'query', sql, '(case when 1=1 then id else 2 end)', 'name DESC', 'id, name'),
  attempt('sql-like', 'body', sql, "a%' OR name <> '", 'a_b%', 'from items where'),
  attempt('sql-insert', 'form', sql, "a'), ('b", 'plain name', "it''s"),
  attempt('sql-script', 'query', sql, '1; delete from items where id > 90', '100'),
  attempt('sql-name', 'query', sql, 'id" from items where "id" = 1 or "name', 'name'),
  attempt('shell-plain', 'query', command, 'a; echo pwned', 'hello', 'file-7.txt'),
  attempt('shell-double', 'body', command, '$(echo pwned)', 'two words', "it's"),
  attempt('shell-single', 'query', command, "x'; echo pwned; '", 'a;b', '$(no)'),
  attempt('shell-option', 'form', command, 'y|cat', 'plain'),
  attempt('shell-argument', 'body', command, 'echo one && echo two'),
  attempt('shell-variable', 'header', command, 'a`echo pwned`', 'word'),
  attempt('file-join', 'query', file, '../secret.txt', 'a.txt', 'user/../a.txt'),
  attempt('file-text', 'query', file, '../../../../../../../etc/hostname', 'a.txt'),
  attempt('file-resolve', 'body', file, '/etc/hostname', 'a.txt'),
  attempt('file-whole', 'query', file, `${directory}/secret.txt`),
  attempt('file-write', 'form', file, '../../pwned.txt', 'new.txt'),
  attempt('file-list', 'query', file, '../../../etc', '.', '../user'),
  attempt('code-function', 'query', code, 'name;process.title', 'name'),
  attempt('code-eval', 'body', code, '1;process.uptime()', '40+2'),
  attempt('code-vm', 'query', code, "1'; total = 'pwned", 'word', '12.50'),
  attempt('ssrf-fetch', 'query', 'ssrf', `http://${inner}/admin`),
  attempt('ssrf-fetch', 'body', 'ssrf_metadata', 'http://169.254.169.254/latest/meta-data/'),
  attempt('ssrf-host', 'query', 'ssrf', '127.0.0.1:9'),
  attempt('ssrf-user', 'query', 'ssrf', '@127.0.0.1:9/', '/users'),
];
