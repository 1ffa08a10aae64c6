// Python: Flask, Django, FastAPI, the standard library.
import { all, sqlText, type Table, words } from './table.js';
import { pythonChecks } from './python-checks.js';

const parts = (
  'args form values json data files cookies headers query_string full_path url path GET POST ' +
  'COOKIES META FILES body query_params path_params get_json get_data query match_info rel_url ' +
  'GET.get'
).split(' ');
const requests = [
  'flask.request',
  'request',
  'quart.request',
  'bottle.request',
  'fastapi.Request',
  'starlette.requests.Request',
  'django.http.HttpRequest',
  'self.request',
  'aiohttp.web.Request',
  'sanic.Request',
  'HttpRequest',
  'Request',
];
const ofRequests = requests.map((one) => parts.map((part) => `${one}.${part}`).join(' ')).join(' ');
const clients = [
  'requests',
  'httpx',
  'aiohttp.ClientSession()',
  'requests.Session()',
  'httpx.AsyncClient()',
  'httpx.Client()',
  'session',
]
  .map((one) =>
    'get post put patch delete head request options'
      .split(' ')
      .map((verb) => `${one}.${verb}`)
      .join(' '),
  )
  .join(' ');
const runs = 'subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen';
const openers =
  'urllib.request.urlopen urllib.request.Request urllib.urlopen urllib2.urlopen ' +
  'urllib.request.urlretrieve http.client.HTTPConnection http.client.HTTPSConnection ' +
  'socket.create_connection aiohttp.request';

export const python: Table = {
  sources: {
    [ofRequests]: 'part of the request',
    'self.get_argument self.get_query_argument self.get_body_argument': 'request parameter',
    'self.path self.headers self.rfile': 'part of the request',
  },
  records: ['json', 'get_json'],
  params: { request: 'request', req: 'request' },
  routes: /(?:^|\.)(?:route|get|post|put|patch|delete|websocket|api_route)$/,
  sendsJson: true,
  types: {
    'sqlite3.connect psycopg2.connect MySQLdb.connect pymysql.connect mysql.connector.connect': 'connection',
    'connection.cursor': 'cursor',
  },
  sinks: [
    {
      call: 'cursor.execute cursor.executemany cursor.executescript connection.execute *.executescript',
      harm: 'sql',
      at: [0],
    },
    {
      call: '*.execute *.executemany *.exec_driver_sql *.fetch *.fetchrow *.fetchval *.fetch_all *.fetch_one',
      harm: 'sql',
      at: [0],
      begins: sqlText,
    },
    { call: '*.execute', harm: 'sql', at: [0] },
    {
      call:
        '*.raw *.extra *.RawSQL RawSQL django.db.models.expressions.RawSQL sqlalchemy.text ' +
        'pandas.read_sql pandas.read_sql_query',
      harm: 'sql',
      at: [0],
    },
    { call: '*.extra', harm: 'sql', named: ['where'] },
    {
      call: '*.find_one *.find *.update_one *.delete_one *.delete_many *.update_many *.count_documents',
      harm: 'nosql',
      at: [0],
    },
    {
      call:
        'os.system os.popen os.popen2 os.popen3 commands.getoutput commands.getstatusoutput ' +
        'subprocess.getoutput subprocess.getstatusoutput popen2.popen2',
      harm: 'command',
      at: [0],
    },
    { call: runs, harm: 'command', at: [0], named: ['args'], when: { arg: 'shell', is: /^(?:true|1)$/i } },
    { call: runs, harm: 'command', at: [0], named: ['args'], isList: true },
    { call: 'asyncio.create_subprocess_shell', harm: 'command', at: [0] },
    {
      call:
        'asyncio.create_subprocess_exec os.execl os.execlp os.execv os.execve os.execvp os.spawnl ' +
        'os.spawnv os.startfile pexpect.spawn pexpect.run',
      harm: 'command',
      at: [0],
    },
    { call: '*.exec_command', harm: 'command', at: [0] },
    { call: 'eval exec compile builtins.eval builtins.exec code.interact', harm: 'code', at: [0] },
    { call: 'importlib.import_module __import__', harm: 'code', at: [0], rule: 'unsafe-reflection' },
    {
      call:
        'open io.open codecs.open os.open os.remove os.unlink os.rmdir os.mkdir os.makedirs os.listdir ' +
        'os.rename os.stat shutil.rmtree shutil.copy shutil.copyfile shutil.move aiofiles.open ' +
        'zipfile.ZipFile tarfile.open',
      harm: 'path',
      at: [0],
    },
    {
      call:
        'flask.send_file send_file fastapi.responses.FileResponse starlette.responses.FileResponse ' +
        'django.http.FileResponse',
      harm: 'path',
      at: [0],
      named: ['path'],
    },
    { call: '*.save', harm: 'path', at: [0] },
    { call: '*.read_text *.read_bytes *.write_text *.write_bytes *.unlink *.open', harm: 'path', isReceiver: true },
    { call: 'shutil.copy shutil.copyfile shutil.move os.rename', harm: 'path', at: [1] },
    {
      call: `${clients} ${openers}`,
      harm: 'address',
      at: [0],
      named: ['url'],
    },
    { call: 'requests.request httpx.request requests.Session().request', harm: 'address', at: [1] },
    {
      call:
        'flask.redirect redirect django.shortcuts.redirect django.http.HttpResponseRedirect ' +
        'HttpResponseRedirect fastapi.responses.RedirectResponse starlette.responses.RedirectResponse ' +
        'werkzeug.utils.redirect *.redirect',
      harm: 'redirect',
      at: [0],
      named: ['url'],
    },
    {
      call:
        'flask.make_response make_response flask.Response django.http.HttpResponse HttpResponse ' +
        'fastapi.responses.HTMLResponse starlette.responses.HTMLResponse markupsafe.Markup flask.Markup ' +
        'Markup django.utils.safestring.mark_safe mark_safe',
      harm: 'html',
      at: [0],
      named: ['content', 'response'],
      plain: ['content_type', 'mimetype', 'media_type'],
    },
    {
      call:
        'flask.render_template_string render_template_string jinja2.Template Template ' +
        'jinja2.Environment().from_string *.from_string mako.template.Template django.template.Template',
      harm: 'template',
      at: [0],
    },
    {
      call:
        'pickle.loads pickle.load cPickle.loads cPickle.load dill.loads dill.load jsonpickle.decode ' +
        'marshal.loads marshal.load shelve.open yaml.unsafe_load yaml.full_load torch.load joblib.load ' +
        'pandas.read_pickle pickle.Unpickler',
      harm: 'object',
      at: [0],
    },
    { call: 'yaml.load yaml.load_all', harm: 'object', at: [0], unless: { arg: 'Loader', is: /Safe/ }, unlessAt: 1 },
    {
      call:
        'lxml.etree.fromstring lxml.etree.parse lxml.etree.XML lxml.etree.iterparse xml.sax.parseString ' +
        'xml.sax.parse xml.dom.minidom.parseString xml.dom.pulldom.parseString',
      harm: 'xml',
      at: [0],
      safe: 'resolve_entities',
    },
    { call: '*.search_s *.search_ext_s *.search_ext *.search_st', harm: 'ldap', at: [0, 2] },
    { call: '*.search', harm: 'ldap', at: [1], begins: /^\(/ },
    { call: '*.search', harm: 'ldap', at: [0], named: ['search_filter'], begins: /^\(/ },
    { call: '*.xpath lxml.etree.XPath *.findall', harm: 'xpath', at: [0], begins: /^[./]/ },
    { call: 're.compile re.match re.search re.fullmatch re.findall re.sub re.split', harm: 'pattern', at: [0] },
    {
      call:
        'logging.info logging.warning logging.error logging.debug logging.critical *.logger.info ' +
        '*.logger.warning *.logger.error logger.info logger.warning logger.error app.logger.info',
      harm: 'log',
      at: [0],
    },
    { call: 'getattr setattr', harm: 'code', at: [1], rule: 'unsafe-reflection', severity: 'medium' },
  ],
  returned: 'html',
  cures: {
    'int float bool len ord hash uuid.UUID decimal.Decimal ipaddress.ip_address datetime.datetime.strptime': all,
    'os.path.basename werkzeug.utils.secure_filename secure_filename ntpath.basename posixpath.basename': ['path'],
    'werkzeug.utils.safe_join flask.safe_join safe_join': ['path'],
    ['html.escape markupsafe.escape escape flask.escape cgi.escape django.utils.html.escape ' +
      'bleach.clean nh3.clean django.utils.html.conditional_escape xml.sax.saxutils.escape ' +
      'conditional_escape format_html django.utils.html.format_html']: ['html'],
    'shlex.quote pipes.quote': ['command'],
    'urllib.parse.quote urllib.parse.quote_plus urllib.quote urllib.parse.urlencode': [
      'html',
      'header',
      'redirect',
      'address',
    ],
    're.escape': ['pattern'],
    'ldap.filter.escape_filter_chars ldap3.utils.conv.escape_filter_chars escape_filter_chars': ['ldap'],
    'ldap.dn.escape_dn_chars': ['ldap'],
    str: ['nosql'],
    'psycopg2.sql.Identifier psycopg2.sql.Literal sql.Identifier sql.Literal quote_ident': ['sql'],
    ['flask.render_template render_template django.shortcuts.render flask.jsonify jsonify json.dumps ' +
      'flask.redirect redirect flask.send_file send_file flask.send_from_directory send_from_directory ' +
      'django.http.JsonResponse JsonResponse flask.render_template_string render_template_string ' +
      'flask.url_for url_for']: ['html'],
    'hashlib.sha256 hashlib.sha512 hashlib.md5 hashlib.sha1': all,
    'ast.literal_eval': ['code'],
  },
  guards: {
    '*.isdigit *.isalnum *.isnumeric *.isdecimal *.isidentifier *.isalpha isinstance': all,
    'url_has_allowed_host_and_scheme is_safe_url django.utils.http.url_has_allowed_host_and_scheme': [
      'redirect',
      'address',
    ],
    '*.issubset': all,
  },
  drops: words(
    'open read_text read_bytes execute executemany fetch\\w* find\\w* first count exists filter ' +
      'filter_by all one one_or_none isdigit is\\w+ has_\\w+ startswith endswith index hexdigest ' +
      'digest scalar\\w* commit verify\\w* check\\w* authenticate login run call check_output ' +
      'Popen system info warning error debug print query save delete add update status_code len ' +
      'urlopen head abort communicate search_s compare_digest get_object_or_404',
  ),
  ends: /^(?:sys\.exit|exit|quit|os\._exit|abort|flask\.abort)$/,
  checks: pythonChecks,
};
