// JavaScript and TypeScript: Node.js, Express, Koa, Fastify, Nest, Next, the browser.
import { all, sqlText, type Table, words } from './table.js';
import { javascriptChecks } from './javascript-checks.js';

const fs =
  'readFile readFileSync writeFile writeFileSync appendFile appendFileSync createReadStream ' +
  'createWriteStream unlink unlinkSync rm rmSync rmdir rmdirSync open openSync readdir readdirSync ' +
  'stat statSync lstat lstatSync mkdir mkdirSync rename renameSync copyFile copyFileSync access ' +
  'accessSync exists existsSync truncate chmod';
const onFs = fs
  .split(' ')
  .map((one) => `fs.${one} fs.promises.${one} fs-extra.${one}`)
  .join(' ');
const verbs = 'get post put patch delete head request';
const clients = ['axios', 'got', 'needle', 'superagent', 'undici', 'http', 'https', 'request', 'request-promise', 'ky']
  .map((client) =>
    verbs
      .split(' ')
      .map((verb) => `${client}.${verb}`)
      .join(' '),
  )
  .join(' ');
const fetches =
  'fetch node-fetch node-fetch.default axios got needle superagent request request-promise undici.fetch axios.create';

export const javascript: Table = {
  sources: {
    'req.query': 'query parameter of the request',
    'req.body': 'body of the request',
    'req.params req.param': 'path parameter of the request',
    'req.headers req.header req.get req.rawHeaders': 'header of the request',
    'req.cookies req.signedCookies': 'cookie of the request',
    'req.url req.originalUrl req.path req.baseUrl req.hostname req.nextUrl': 'address of the request',
    'req.files req.file': 'uploaded file',
    'req.json req.text req.formData': 'body of the request',
    'req.on req.read req.rawBody': 'body of the request',
    'ctx.query ctx.params ctx.request ctx.req ctx.headers ctx.cookies ctx.querystring': 'part of the request',
    'event.queryStringParameters event.body event.pathParameters event.headers': 'part of the event',
    ['location.hash location.search location.href location.pathname window.location document.location ' +
      'document.URL document.documentURI document.referrer document.cookie window.name']: 'address of the page',
    'next/navigation.useSearchParams() react-router-dom.useParams() react-router-dom.useSearchParams()':
      'address of the page',
    'message.data': 'message of another window',
  },
  records: ['req.query', 'req.body', 'req.json', 'ctx.query', 'ctx.request', 'event.body'],
  params: {
    req: 'req',
    request: 'req',
    _req: 'req',
    ctx: 'ctx',
    event: 'event',
    res: 'res',
    response: 'res',
    reply: 'reply',
  },
  marks: /^(?:Query|Body|Param|Headers|Cookies|UploadedFile)$/,
  sendsJson: true,
  types: {
    'http.createServer https.createServer': 'server',
    ['mysql.createConnection mysql.createPool mysql2.createConnection mysql2.createPool new Pool new ' + 'Client']:
      'database',
    'cheerio.load': 'cheerio',
    'new DOMParser': 'DOMParser',
    'new URL': 'URL',
    'new URLSearchParams': 'URLSearchParams',
    'res.status res.set res.header res.contentType res.code res.attachment': 'res',
    'reply.code reply.header reply.status': 'reply',
    'reply.type': 'htmlReply',
    'res.type': 'plain',
  },
  sinks: [
    { call: '*.query *.execute *.raw *.unsafe *.$queryRawUnsafe *.$executeRawUnsafe', harm: 'sql', at: [0] },
    { call: 'database.query database.execute', harm: 'sql', at: [0] },
    {
      call: '*.all *.each *.run *.exec *.prepare *.any *.one *.none *.oneOrNone *.manyOrNone *.literal',
      harm: 'sql',
      at: [0],
      begins: sqlText,
    },
    { call: '*.whereRaw *.orderByRaw *.havingRaw *.selectRaw *.joinRaw', harm: 'sql', at: [0] },
    { call: '*.query *.execute', harm: 'sql', at: [0], entry: 'sql' },
    { call: '*.query *.execute', harm: 'sql', at: [0], entry: 'text' },
    {
      call:
        '*.findOne *.find *.findOneAndUpdate *.findOneAndDelete *.updateOne *.updateMany *.deleteOne ' +
        '*.deleteMany *.countDocuments *.findOneAndReplace *.exists',
      harm: 'nosql',
      at: [0],
    },
    { call: '*.$where', harm: 'code', at: [0] },
    { call: 'child_process.exec child_process.execSync shelljs.exec', harm: 'command', at: [0] },
    {
      call:
        'child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync ' +
        'child_process.fork execa.execa cross-spawn',
      harm: 'command',
      at: [0],
    },
    {
      call: 'child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync',
      harm: 'command',
      at: [1],
      when: { arg: 'shell', is: /^(?!false$)/ },
    },
    {
      call: 'child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync',
      harm: 'command',
      at: [1],
      when: { arg: 0, is: /(?:^|\/)(?:ba|z|da)?sh$|^cmd(?:\.exe)?$|powershell/i },
    },
    { call: 'execa.command execa.execaCommand execa.commandSync', harm: 'command', at: [0] },
    { call: 'eval global.eval window.eval', harm: 'code', at: [0] },
    { call: 'new Function Function', harm: 'code' },
    { call: 'setTimeout setInterval', harm: 'code', at: [0] },
    {
      call: 'vm.runInNewContext vm.runInThisContext vm.runInContext vm.compileFunction new Script vm2.run new VM',
      harm: 'code',
      at: [0],
    },
    { call: 'require import', harm: 'include', at: [0] },
    { call: 'res.send htmlReply.send', harm: 'html', at: [0] },
    { call: 'res.write res.end reply.send', harm: 'html', at: [0], begins: /</ },
    { call: 'new Response new NextResponse', harm: 'html', at: [0], begins: /</ },
    { call: 'express.static', harm: 'path', at: [0] },
    { call: 'document.write document.writeln', harm: 'html' },
    { call: '*.insertAdjacentHTML', harm: 'html', at: [1] },
    { call: '$().html jQuery().html *.createContextualFragment', harm: 'html', at: [0] },
    { call: '$().append $().prepend $().before $().after', harm: 'html', at: [0] },
    { call: '$ jQuery', harm: 'html', at: [0] },
    { call: onFs, harm: 'path', at: [0] },
    { call: 'fs.rename fs.renameSync fs.copyFile fs.copyFileSync', harm: 'path', at: [1] },
    { call: 'res.sendFile res.sendfile res.download reply.sendFile *.sendFile', harm: 'path', at: [0], folder: 'root' },
    {
      call: `${fetches} ${clients}`,
      harm: 'address',
      at: [0],
    },
    {
      call: 'axios axios.request got needle request http.request https.request http.get https.get',
      harm: 'address',
      at: [0],
      entry: 'url',
    },
    { call: 'http.request https.request http.get https.get', harm: 'address', at: [0], entry: 'host' },
    { call: 'http.request https.request http.get https.get', harm: 'address', at: [0], entry: 'hostname' },
    { call: 'res.redirect reply.redirect response.redirect ctx.redirect *.redirect', harm: 'redirect', at: [0, 1] },
    {
      call: 'location.assign location.replace window.open window.location.assign window.location.replace',
      harm: 'redirect',
      at: [0],
    },
    {
      call: 'node-serialize.unserialize serialize-javascript.deserialize funcster.deepDeserialize v8.deserialize',
      harm: 'object',
      at: [0],
    },
    { call: 'js-yaml.load', harm: 'object', at: [0], when: { arg: 'schema', is: /DEFAULT_FULL|UNSAFE/ } },
    { call: 'js-yaml.unsafeLoad', harm: 'object', at: [0] },
    {
      call: 'libxmljs.parseXml libxmljs.parseXmlString libxmljs2.parseXml',
      harm: 'xml',
      at: [0],
      when: { arg: 'noent', is: /^true$/ },
    },
    {
      call:
        'ejs.render ejs.compile pug.render pug.compile handlebars.compile Handlebars.compile ' +
        'nunjucks.renderString mustache.render lodash.template _.template doT.template swig.render',
      harm: 'template',
      at: [0],
    },
    { call: 'new RegExp RegExp', harm: 'pattern', at: [0] },
    {
      call:
        'lodash.merge lodash.defaultsDeep lodash.mergeWith _.merge _.defaultsDeep _.mergeWith deepmerge ' +
        'merge.recursive extend hoek.merge',
      harm: 'prototype',
      at: [1, 2],
    },
    { call: 'lodash.set _.set lodash.setWith _.setWith object-path.set dot-prop.set', harm: 'prototype', at: [1] },
    { call: '*.search', harm: 'ldap', at: [1], entry: 'filter' },
    { call: 'xpath.select xpath.select1 xpath.evaluate', harm: 'xpath', at: [0] },
    { call: 'Buffer.alloc Buffer.allocUnsafe', harm: 'allocation', at: [0] },
  ],
  assigned: {
    '*.innerHTML *.outerHTML *.srcdoc': 'html',
    '{}.dangerouslySetInnerHTML {}.__html': 'html',
    'window.location location.href document.location window.location.href': 'redirect',
    'ctx.body': 'html',
  },
  cures: {
    ['Number parseInt parseFloat BigInt Number.parseInt Number.parseFloat Boolean Math.floor ' +
      'Math.trunc Math.min Math.max Math.abs']: all,
    'path.basename sanitize-filename path.win32.basename path.posix.basename': ['path', 'include'],
    'encodeURIComponent encodeURI querystring.escape': ['html', 'header', 'path', 'address'],
    ['escape-html he.encode he.escape lodash.escape _.escape validator.escape html-escaper.escape ' +
      'html-entities.encode']: ['html'],
    'DOMPurify.sanitize dompurify.sanitize isomorphic-dompurify.sanitize sanitize-html xss js-xss': ['html'],
    'shell-quote.quote shell-escape': ['command'],
    ['mysql.escape mysql2.escape sqlstring.escape *.escapeId pg-format *.escapeLiteral ' +
      '*.escapeIdentifier pg-format.literal']: ['sql'],
    'lodash.escapeRegExp _.escapeRegExp escape-string-regexp RegExp.escape': ['pattern'],
    'ldap-escape.filter': ['ldap'],
    'mongo-sanitize express-mongo-sanitize.sanitize': ['nosql'],
    String: ['nosql', 'prototype'],
    'JSON.stringify': ['nosql'],
    'validator.toInt validator.toBoolean validator.toFloat': all,
    'crypto.createHash().update().digest bcrypt.hash': all,
    'uuid.v4 crypto.randomUUID': all,
    '*.toFixed *.getTime': all,
  },
  guards: {
    ['Number.isInteger Number.isSafeInteger Number.isFinite validator.isInt validator.isNumeric ' +
      'validator.isUUID validator.isAlphanumeric validator.isAlpha validator.isMongoId ' +
      'mongoose.isValidObjectId ObjectId.isValid']: all,
    'Object.hasOwn *.hasOwnProperty': all,
    'validator.isURL': [],
    'path.isAbsolute': [],
  },
  drops: words(
    'find\\w* query execute exec select insert\\w* count\\w* save create update\\w* delete\\w* ' +
      'remove authenticate login verify compare\\w* indexOf lastIndexOf includes startsWith ' +
      'endsWith has test some every isArray is[A-Z]\\w* has[A-Z]\\w* keys hash digest fetch ' +
      'get(?:User|Session|Token)\\w* lookup status sendStatus existsSync log error warn info ' +
      'debug localeCompare charCodeAt codePointAt readFileSync readFile send json render redirect ' +
      'end set next findOne',
  ),
  ends: /^(?:process\.exit)$/,
  checks: javascriptChecks,
};
