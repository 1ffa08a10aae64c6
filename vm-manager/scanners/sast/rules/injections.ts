// Rules about data that comes from outside and does harm where it goes: one a kind of harm, for all languages.
import type { Rule } from '../../contract.js';

type Row = readonly [
  id: string,
  severity: Rule['severity'],
  cwes: readonly number[],
  title: string,
  why: string,
  fix: string,
];

const rows: readonly Row[] = [
  [
    'sql-injection',
    'high',
    [89],
    'SQL made of foreign text',
    'A value that a client sends becomes part of the text of a statement. It can end the string that ' +
      'it stands in and add conditions, other tables or statements of its own: all data that the ' +
      'connection may read or change is open.',
    'Give values to the statement as parameters: ? or $1 with PreparedStatement, db.query(text, ' +
      'values), cursor.execute(text, values), PDO::prepare, db.Query(text, values...). Names of tables ' +
      'and columns cannot be parameters: look them up in a fixed list.',
  ],
  [
    'nosql-injection',
    'high',
    [943],
    'Query of a document store made of a foreign object',
    'Bodies and queries of requests can hold objects, and an object with $ne or $gt in the place of ' +
      'a text is an operator of the query. A login that compares a password is passed with {"$ne": ""}.',
    'Make a text or a number of the value before it goes into the query (String(x), Number(x)), or ' +
      'check the body with a schema that allows only texts. Never pass $where a foreign text.',
  ],
  [
    'command-injection',
    'critical',
    [78],
    'Command made of foreign text',
    'A value that a client sends reaches a shell or decides which program runs. A semicolon, a ' +
      'backtick or $() in it starts other programs with the rights of the service.',
    'Start the program without a shell and give it its arguments as a list (execFile, ' +
      'subprocess.run([...]), ProcessBuilder, exec.Command); put -- before values that could begin ' +
      'with a dash; take the program itself from a fixed list. In PHP use escapeshellarg for each ' +
      'argument where there is no other way.',
  ],
  [
    'code-injection',
    'critical',
    [94, 95],
    'Foreign text is run as code',
    'A value that a client sends is compiled and run by the language itself. The client can do all ' +
      'that the service can.',
    'Do not evaluate text. Parse data as data (JSON), choose functions out of a fixed table by name, ' +
      'and use a small parser of expressions where users may write formulas.',
  ],
  [
    'cross-site-scripting',
    'high',
    [79],
    'Foreign text in a page without escaping',
    'A value that a client sends is written into HTML as it is, or escaped for another place than ' +
      'the one it stands in. A link can carry a script that then acts as the person who opens it.',
    'Let a template engine escape it, or escape it for its place: HTML escaping between elements and ' +
      'in quoted attributes, JSON for scripts, a check of the scheme for links. In a browser set ' +
      'textContent, not innerHTML. Answer JSON with its own content type.',
  ],
  [
    'path-traversal',
    'high',
    [22],
    'Path of a file made of foreign text',
    'A value that a client sends becomes part of a path. With ../ or an absolute path other files ' +
      'are read, overwritten or deleted.',
    'Take only the last part of the name (basename), or resolve the whole path and check that it ' +
      'still begins with the folder and a separator. Better: keep names of files in a table and let ' +
      'clients send an id.',
  ],
  [
    'file-inclusion',
    'critical',
    [98, 22],
    'Foreign text decides which file is run',
    'A value that a client sends names a file that is included and run. Uploaded files, logs and, ' +
      'where the settings allow it, files of other servers become code of the service.',
    'Choose the file out of a fixed list or a map with the value as its key; never put the value ' +
      'into a path that is included.',
  ],
  [
    'server-side-request-forgery',
    'high',
    [918],
    'Address of a request made of foreign text',
    'A value that a client sends decides which host the service asks. Services behind the firewall ' +
      'and the metadata of a cloud answer it.',
    'Compare the host with a fixed list before the request and do not follow redirects to others. ' +
      'Where any host may be asked, resolve the name once, refuse private and link-local addresses, ' +
      'and connect to the address that was checked.',
  ],
  [
    'open-redirect',
    'medium',
    [601],
    'Redirect to a foreign address',
    'A value that a client sends becomes the target of a redirect. A link to this site leads to ' +
      'another one, which looks like it and asks for a password.',
    'Redirect to paths of the own site only: require one slash that no other slash or backslash ' +
      'follows, or compare the host with a fixed list; or let clients send a key of a table of targets.',
  ],
  [
    'ldap-injection',
    'high',
    [90],
    'LDAP filter made of foreign text',
    'A value that a client sends becomes part of a filter. Brackets and stars in it change whom the ' +
      'filter finds, also at a login.',
    'Escape the value for filters (RFC 4515: * ( ) \\ and NUL), or for names (RFC 4514) where it is ' +
      'part of a distinguished name; use the library for it.',
  ],
  [
    'xpath-injection',
    'high',
    [643],
    'XPath made of foreign text',
    'A value that a client sends becomes part of an expression. A quote in it ends the text and adds ' +
      'conditions that are true of any node.',
    'Give values as variables of the expression (XPathVariableResolver, parameters of the library), ' +
      'or allow only letters and digits.',
  ],
  [
    'xml-external-entities',
    'high',
    [611],
    'Foreign XML is read with its entities',
    'The parser resolves entities and document types that the sender has written. They read local ' +
      'files into the document, ask other servers, or grow without an end.',
    'Switch document types off (disallow-doctype-decl in Java, resolve_entities=False or defusedxml ' +
      'in Python, no LIBXML_NOENT in PHP, noent: false in JavaScript).',
  ],
  [
    'unsafe-deserialization',
    'critical',
    [502],
    'Objects are made of foreign bytes',
    'The format says which classes are made and which of their methods run. Whoever can send it can ' +
      'run code of their choice.',
    'Take a format that holds only data (JSON with a schema, yaml.safe_load, protobuf). Where ' +
      'objects must be read, allow a fixed list of classes and verify a signature before.',
  ],
  [
    'template-injection',
    'critical',
    [1336, 94],
    'Template made of foreign text',
    'A value that a client sends is part of the template itself and not of its data. Expressions in ' +
      'it are run by the engine.',
    'Keep templates in files, and give values as their data: render(name, {value}).',
  ],
  [
    'header-injection',
    'low',
    [113],
    'Header of an answer made of foreign text',
    'A value that a client sends becomes part of a header. Where the framework lets line breaks ' +
      'pass, the answer gets other headers or a second body.',
    'Remove CR and LF, or better take the value from a fixed list; encode names of files as RFC 6266 says.',
  ],
  [
    'log-injection',
    'low',
    [117],
    'Foreign text in a log',
    'A value that a client sends is written into a log with its line breaks. Entries can be made up, ' +
      'and a reader of logs can be attacked.',
    'Write structured logs (one field a value), or replace control characters.',
  ],
  [
    'trust-boundary',
    'medium',
    [501],
    'Foreign data in the session',
    'A value that a client sends is kept in the session, among what the service itself has put ' +
      'there. Other code takes all of a session for checked.',
    'Check the value and keep only what is known to be right: an id that was looked up, one of a ' +
      'list; give foreign values a place of their own.',
  ],
  [
    'pattern-from-input',
    'medium',
    [1333, 730],
    'Regular expression made of foreign text',
    'A value that a client sends is compiled as a pattern. Some patterns take longer than a lifetime ' +
      'for a short text: one request stops the process.',
    'Escape the value so that it stands for itself, or use an engine that runs in linear time (RE2) ' +
      'with a limit on the length.',
  ],
  [
    'prototype-pollution',
    'high',
    [1321],
    'Foreign names become members of an object',
    'Names that a client sends are used to write into an object, or its whole body is merged deeply. ' +
      'With __proto__ or constructor they change all objects of the process: rights, settings, ' +
      'sometimes which code runs.',
    'Copy the fields that are expected by name, check names against a list, use a Map or ' +
      'Object.create(null), or a merge that skips __proto__, constructor and prototype.',
  ],
  [
    'uncontrolled-allocation',
    'medium',
    [770, 789],
    'Foreign number decides how much memory is taken',
    'A number that a client sends is used as the size of a buffer or a list without a bound. One ' +
      'request takes all memory.',
    'Compare it with the largest size that makes sense before it is used.',
  ],
  [
    'unsafe-reflection',
    'high',
    [470],
    'Foreign text names a class or a function',
    'A value that a client sends decides which class is loaded or which function is called. Some of ' +
      'those that are there were never meant to be called from outside.',
    'Use a fixed table from names to what may be called.',
  ],
];

export const injections: readonly Rule[] = rows.map(([id, severity, cwes, title, description, remediation]) => ({
  id,
  version: 1,
  title,
  severity,
  cwes,
  description,
  remediation,
}));
