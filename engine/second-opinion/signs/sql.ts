// Signs of queries: pieces of the grammar of SQL, of directory filters and of document databases that plain text lacks.
import { sign, type Sign } from '../sign.js';

const raw = String.raw;
/** What databases read as white space. */
const gap = raw`(?:[\s+(\xa0]|/\*[^*]*\*+/)`;
/** The same, with comments to the end of a line. */
const apart = raw`(?:${gap}|(?:--|#)[^\r\n]{0,60}?(?:[\r\n]|\\n))`;
const quote = raw`['"\x60]`;
const call = raw`\([\w\s,.()@'"]{0,80}\)`;
/** What is the same in every row: a number, a literal, a call, an expression, a variable. */
const constant = raw`(?:\d[\w.]*|${quote}[^'"\x60]{0,40}${quote}?|[\w.]{1,40}${call}|\([^()]{1,60}\)|\[\w+\]|@@?\w+)`;
/** Operators that are words of prose as well, with what only a statement has behind them. */
const wordOperator =
  raw`(?:\bnot\s+)?(?:\bin\s*\(|\b(?:r?like|regexp)\s*['"(\d]|\bbetween\s+\S+\s+and\b` +
  raw`|\bis\s+(?:not\s+)?null\b)`;
const connective = raw`(?:\b(?:x?or|and|having|where|when|if|not)\b|\|\||&&)[\s+(!~\xa0-]*`;
/** A letter compared with itself. */
const sameLetter = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `${letter}\\s*=\\s*${letter}`).join('|');
const verbs = 'select|insert|update|delete|drop|create|alter|truncate|exec(?:ute)?|declare|shutdown|grant|waitfor|call';
const column = raw`[\w.*@$'"\x60|\[\]]+(?:\s*\([^()]{0,80}\)){0,2}`;

export const sqlSigns: readonly Sign[] = [
  sign(
    'sql-truth',
    ['sql'],
    5,
    'a connective (OR, AND, HAVING, WHERE) before a comparison of two constants',
    raw`${connective}(?:${constant}[\s)\xa0]*(?:(?:[<>=]|!=)[\s+(!~=>\xa0-]*(?:[\d'"\x60@(\[]|\w+\()|${wordOperator})`,
    raw`|(?:${sameLetter})(?:\W|\z))|\d[\x00-\x20\x80-\xff]*(?:or|and)[\x00-\x20\x80-\xff]*\d+\s*[<>=]\s*\d`,
  ),
  sign(
    'sql-compare',
    ['sql'],
    3,
    'a connective before a comparison of a name',
    raw`${connective}[\w.@]{1,40}[\s)\xa0'"\x60]*(?:[<>=]|!=|\bis\s+(?:not\s+)?null\b)`,
  ),
  sign(
    'sql-union',
    ['sql'],
    5,
    'UNION before SELECT',
    raw`\bunion\b${apart}*(?:(?:all|distinct(?:row)?)\b${apart}*)?select\b`,
    raw`|\bunion\b${apart}+(?:all\b${apart}*)?values${apart}*\(\s*(?:['"\d@]|null\b)[^)]{0,80},`,
  ),
  sign(
    'sql-columns',
    ['sql'],
    5,
    'SELECT of *, of a call, of a literal or of numbers',
    raw`\bselect\b(?:${gap}|\.)+(?:(?:all|distinct|top\s+\d+)\s+)?(?:\*\s*(?:,|from\b)|null\s*(?:,|from\b)`,
    raw`|\d+\s*(?:[-;#]|,\s*\d+\s*[-,#])|${quote}[^'"\x60]*${quote}\s*,|[\w.]+\((?:\)|\*|[^()]{2,})`,
    raw`|case\s+when\b)|\bselect\.\d|\(\s*select\s+[\w.@*'"]{1,40}\s*\)`,
  ),
  sign(
    'sql-list',
    ['sql'],
    4,
    'SELECT of several columns FROM',
    raw`\bselect\b${gap}+[\w.]+\s*,\s*[\w.]+.{0,80}\bfrom\b`,
  ),
  sign('sql-select', ['sql'], 3, 'SELECT of one column FROM a name', raw`\bselect\b${gap}+${column}\s+from\b`),
  sign(
    'sql-identity',
    ['sql'],
    5,
    'a variable of the server, or who is logged in, asked of the database',
    raw`@@(?:version|\w*(?:name|dir|version)|global|session|language|spid)\b|\bselect\b${gap}+(?:@@|(?:session_user`,
    raw`|current_user|system_user|user|version|database)\b)`,
    raw`|\b(?:session_user|system_user|current_user|connection_id)\s*\(`,
  ),
  sign(
    'sql-statement',
    ['sql'],
    5,
    'a statement that changes data or runs a procedure',
    raw`\b(?:insert\s+into\s+[\w.]+\s*(?:\(|values|select)|delete\s+from\s+[\w.]+\s*(?:where|;|--|#|\z)`,
    raw`|update\s+[\w.]+\s+set\s+[\w.]+\s*=|(?:drop|create|alter|truncate)\s+(?:or\s+replace\s+)?`,
    raw`(?:table|database|user|login|function|procedure|schema|view|index|trigger|role)\b`,
    raw`|declare\s+@|exec(?:ute)?\s*(?:\(|(?:[\w.]+\.\.?)?[sx]p_|immediate\b))`,
  ),
  sign('sql-stacked', ['sql'], 5, 'a second statement behind a semicolon', raw`;${gap}*(?:${verbs})\b`),
  sign(
    'sql-clause',
    ['sql'],
    5,
    'a clause with a number of a column, or LIMIT with two numbers',
    raw`\b(?:order|group)[\s+]+by[\s+]+\d+[\s+]*(?:--|#|/\*|;|,[\s+]*\d|\b(?:asc|desc|limit|offset|having)\b)`,
    raw`|\blimit[\s+]+\d+[\s+]*(?:,|offset\b)[\s+]*\d`,
    raw`|^\s*-?\d*['"\x60)]*[\s+]+(?:order|group)[\s+]+by[\s+]+\d+\s*\z`,
  ),
  sign(
    'sql-quote-break',
    ['sql'],
    3,
    'a quote that ends a literal before the statement goes on',
    raw`${quote}[\s)+]*(?:(?:x?or|and|union|having|where|order|group|limit|like|in|between|is|select)\b`,
    raw`|(?:--|#)(?:[\s+-]|\z)|/\*|;\s*[a-z%-]|\|\||&&|[|&^]\s*[\w'"%]|\*\s*from\b)`,
  ),
  sign(
    'sql-comment-end',
    ['sql'],
    2,
    'a comment that cuts off what stands behind',
    raw`[\w'"\x60)\];]\s*(?:(?:--|#)(?:[\s+-]|\z)|/\*)`,
  ),
  sign(
    'sql-comment-inside',
    ['sql'],
    3,
    'a comment in place of white space, or one that only MySQL runs',
    raw`/\*!\d*|\w/\*[^*]{0,20}\*/\w`,
  ),
  sign(
    'sql-literals',
    ['sql'],
    3,
    'literals on both sides of an operator',
    raw`${quote}[\s)]*(?:=|<>|!=|<=?|>=?|\|\||\^|&|\*|%|\+|-|\blike\b|\bdiv\b)[\s(]*${quote}`,
  ),
  sign(
    'sql-danger',
    ['sql'],
    5,
    'a function that waits, reads files, runs programs or tells by its errors',
    raw`\b(?:(?:sleep|benchmark|pg_sleep|randomblob|extractvalue|updatexml|load_file|group_concat|string_agg`,
    raw`|generate_series|name_const|make_set|xmltype|xmlagg|xmlelement|xml2clob|json_[a-z]+|jsonb_[a-z_]+)${gap}*\(`,
    raw`|dbms_\w+\.|utl_\w+\.|ctxsys\.|xp_\w+|sp_(?:execute|oa|password)\w*|procedure\s+analyse`,
    raw`|waitfor\s+(?:delay|time)\b|into\s+(?:out|dump)file\b)`,
  ),
  sign(
    'sql-call',
    ['sql'],
    2,
    'a call of a function that databases have',
    raw`\b(?:concat(?:_ws)?|n?char|chr|ascii|ord|substr(?:ing)?|mid|hex|unhex|elt|count|exp|floor|rand|cast|convert`,
    raw`|if|case|user|database|version|schema|sysdate|now|md5|len|length|lower|upper|left|right|isnull|ifnull`,
    raw`|coalesce|row|instr|locate|reverse|round|sum|min|max)\s*\(`,
  ),
  sign(
    'sql-catalogue',
    ['sql'],
    5,
    'a table that describes the database',
    raw`\b(?:information_schema|sysibm\.|syscat\.|sys(?:objects|columns|users|databases|tables)\b|pg_(?:catalog|shadow`,
    raw`|user|database)\b|sqlite_(?:master|version)|(?:all|user|dba)_(?:tables|users|tab_columns)\b|mysql\.(?:user|db)`,
    raw`|msysobjects|msysaccessobjects|master\.\.|v\$version)`,
  ),
  sign(
    'sql-json',
    ['sql'],
    5,
    'an operator or cast of a database beside a literal that holds a document or a path of one',
    raw`['"\x60\w)\]]\s*(?:::\s*\w+\s*)?(?:@[>?@]|<@|->>?|#>>?|#-|\?[|&]?)\s*(?:['"\x60(]|array\b|\d)`,
    raw`|['"\x60\w)\]]\s*::\s*jsonb?\b|\bas\s+jsonb?\s*\)|\bmember\s+of\s*\(`,
    raw`|[}\]]['"\x60]\s*(?:\|\||[<>=]|\b(?:is|in|like)\b)|['"\x60)\w]\s*[<>=]\s*'(?:[{\[]|\$[.\[])`,
  ),
  sign(
    'directory-filter',
    ['sql'],
    5,
    'a directory filter that is closed and begun again, or a matching rule by number',
    raw`(?:\*|\w)\s*\)+\s*\(\s*[|&]\s*\(|\*\s*\)+\s*\(\s*(?:[|&!]|\w+=)|\(\s*[|&]\s*\(\s*\w+\s*[~<>]?=`,
    raw`|\(\s*object(?:class|category)\s*=|\w:\d+(?:\.\d+){2,}:=`,
  ),
  sign(
    'document-operator',
    ['sql', 'code'],
    5,
    'an operator of a document database as a key',
    raw`(?:[\[{."']\s*|^)\$(?:eq|ne|[gl]te?|n?in|and|n?or|not|exists|type|regex|text|where|all|size|expr|mod|func`,
    raw`|comment|elemmatch|jsonschema|slice|options)(?:["'\]}:=.]|\s*:|\z)`,
    // behind a comma a variable of GraphQL has its type there, and an operator a value
    raw`|,\s*['"]?\$(?:eq|ne|[gl]te?|n?in|and|n?or|not|exists|regex|where|expr|func)['"]?\s*:\s*`,
    raw`(?:['"{\d-]|\[\s*[{'"\d]|function\b|true\b|false\b|null\b)`,
  ),
  sign('sql-numbers', ['sql'], 3, 'a comparison of two numbers as an argument', raw`\(\s*\d+\s*(?:=|<>|!=|<|>)\s*\d+`),
  sign(
    'sql-boolean',
    ['sql'],
    5,
    'a number or the end of a literal, a connective, and what is always true or false',
    raw`(?:^-?\d+|['")])${gap}+(?:x?or|and)\b${gap}+(?:not\b${gap}+)?(?:true|false)\b|^-?\d+\s*(?:\|\||&&)\s*\d+\s*\z`,
  ),
  sign('sql-negation', ['sql'], 5, 'a quote at the beginning, then a negation', raw`^\s*${quote}\s*!\s*['"\x60\w(]`),
];
