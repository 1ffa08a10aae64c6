// PHP: the language's own functions, PDO, mysqli, Symfony and Laravel requests.
import { all, type Table, words } from './table.js';
import { phpChecks } from './php-checks.js';

const requests = ['$request', 'Request', '$this.request'];
const asked =
  'get input query request post all cookie header headers cookies files attributes getContent only json server';

export const php: Table = {
  sources: {
    $_GET: 'query parameter of the request',
    $_POST: 'form field of the request',
    $_REQUEST: 'request parameter',
    $_COOKIE: 'cookie of the request',
    $_FILES: 'uploaded file',
    $_SERVER: 'header of the request',
    $HTTP_RAW_POST_DATA: 'body of the request',
    $argv: 'argument of the program',
    'filter_input filter_input_array getallheaders apache_request_headers': 'request parameter',
    [requests
      .map((one) =>
        asked
          .split(' ')
          .map((part) => `${one}.${part}`)
          .join(' '),
      )
      .join(' ')]: 'request parameter',
    'fgets fread fgetc fgetcsv file_get_contents file stream_get_contents readline': 'stored data of a file',
    'exec shell_exec system passthru popen proc_open': 'stored data that a program gave',
    $_SESSION: 'stored data of the session',
  },
  outputs: { exec: 1, proc_open: 2 },
  types: {
    'new mysqli mysqli_connect': 'mysqli',
    'new PDO': 'PDO',
    'new SimpleXMLElement': 'SimpleXMLElement',
    'new DOMDocument': 'DOMDocument',
    'new DOMXPath': 'DOMXPath',
  },
  sinks: [
    {
      call:
        'mysql_query mysql_db_query mysql_unbuffered_query pg_send_query sqlite_query sqlite_exec ' +
        'mssql_query odbc_exec',
      harm: 'sql',
      at: [0],
    },
    {
      call:
        'mysqli_query mysqli_multi_query mysqli_real_query mysqli_prepare pg_query pg_prepare oci_parse ' +
        'sqlsrv_query',
      harm: 'sql',
      at: [0, 1],
    },
    {
      call:
        'mysqli.query mysqli.multi_query mysqli.real_query PDO.query PDO.exec *.query *.multi_query *.exec ' +
        '*.whereRaw *.selectRaw *.orderByRaw DB.raw DB.select DB.statement DB.unprepared *.createQuery ' +
        '*.createNativeQuery *.executeQuery *.get_results *.get_var *.get_row',
      harm: 'sql',
      at: [0],
    },
    { call: '*.prepare', harm: 'sql', at: [0] },
    { call: 'exec shell_exec system passthru popen proc_open pcntl_exec', harm: 'command', at: [0] },
    { call: 'eval create_function assert', harm: 'code', at: [0, 1] },
    { call: 'call_user_func call_user_func_array', harm: 'code', at: [0], rule: 'unsafe-reflection' },
    { call: 'echo print printf print_r vprintf exit die', harm: 'html' },
    { call: 'include', harm: 'include', at: [0] },
    {
      call:
        'fopen file_get_contents file_put_contents readfile file unlink rmdir mkdir rename copy opendir scandir ' +
        'move_uploaded_file highlight_file show_source parse_ini_file touch chmod simplexml_load_file',
      harm: 'path',
      at: [0],
    },
    { call: 'move_uploaded_file copy rename', harm: 'path', at: [1] },
    {
      call: 'header',
      harm: 'redirect',
      at: [0],
      begins: /^['"\s]*(?:location|refresh)\s*:/i,
      offset: /^['"\s]*location\s*:\s*/i,
    },
    {
      call: 'http_redirect wp_redirect redirect Redirect.to *.redirect new RedirectResponse',
      harm: 'redirect',
      at: [0],
    },
    {
      call: 'curl_init file_get_contents fopen fsockopen get_headers *.request Http.get Http.post',
      harm: 'address',
      at: [0],
    },
    { call: 'curl_setopt', harm: 'address', at: [2], when: { arg: 1, is: /^CURLOPT_URL$/ } },
    { call: 'unserialize', harm: 'object', at: [0], unless: { arg: 'allowed_classes', is: /^false$/ } },
    { call: 'ldap_search ldap_list ldap_read', harm: 'ldap', at: [2] },
    { call: 'ldap_search ldap_list', harm: 'ldap', at: [1] },
    { call: 'DOMXPath.query DOMXPath.evaluate *.xpath', harm: 'xpath', at: [0] },
    {
      call: 'simplexml_load_string *.loadXML new SimpleXMLElement',
      harm: 'xml',
      at: [0],
      when: { arg: 1, is: /NOENT|DTDLOAD/ },
    },
    { call: 'simplexml_load_string', harm: 'xml', at: [0], when: { arg: 2, is: /NOENT|DTDLOAD/ } },
    { call: 'preg_match preg_replace preg_match_all preg_split', harm: 'pattern', at: [0] },
    { call: 'extract parse_str', harm: 'code', at: [0], rule: 'unsafe-reflection', severity: 'medium' },
  ],
  cures: {
    ['intval floatval boolval is_numeric count strlen md5 sha1 crc32 hash abs round floor ceil ' +
      'number_format ctype_digit']: all,
    'htmlspecialchars htmlentities strip_tags esc_html esc_attr e': ['html'],
    'htmlpurifier.purify *.purify': ['html', 'bare'],
    'escapeshellarg escapeshellcmd': ['command'],
    'mysql_real_escape_string mysqli_real_escape_string mysql_escape_string pg_escape_string sqlite_escape_string': [
      'sql',
    ],
    'pg_escape_literal pg_escape_identifier *.quote': ['sql', 'bare'],
    '*.real_escape_string *.escape_string': ['sql'],
    addslashes: ['sql'],
    'basename pathinfo': ['path', 'include'],
    'urlencode rawurlencode http_build_query': ['html', 'header', 'path'],
    preg_quote: ['pattern'],
    ldap_escape: ['ldap'],
    password_hash: all,
    json_encode: ['nosql'],
    uniqid: all,
  },
  filters: {
    call: 'filter_var',
    cures: [
      [/NUMBER_INT|VALIDATE_INT|VALIDATE_FLOAT|VALIDATE_BOOL|VALIDATE_IP/, all],
      [/NUMBER_FLOAT/, all],
      [/SPECIAL_CHARS/, ['html']],
      [/MAGIC_QUOTES|ADD_SLASHES/, ['sql']],
    ],
  },
  guards: {
    'is_numeric is_int is_float is_integer ctype_digit ctype_alnum ctype_alpha ctype_xdigit': all,
    in_array: all,
    'array_key_exists isset': [],
  },
  drops: words(
    'isset empty file_exists is_\\w+ strpos stripos strcmp in_array array_key_exists ' +
      'mysqli?_query pg_query query execute fetch\\w* prepare password_verify count find\\w* ' +
      'error_log fclose pclose proc_close fwrite header ldap_search preg_match curl_exec defined ' +
      'function_exists mysql_\\w+ mysqli_connect',
  ),
  ends: /^(?:exit|die|abort)$/,
  joinsWith: '.',
  checks: phpChecks,
};
