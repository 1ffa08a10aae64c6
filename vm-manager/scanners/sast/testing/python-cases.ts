// For each rule that Python has: a text that breaks it, and a twin that does not.
import type { Case } from './case.js';

const flask = (body: string, head = ''): string => `from flask import Flask, request, redirect, make_response
import os, subprocess
${head}
app = Flask(__name__)

@app.route('/x/<name>')
def view(name):
${body
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
`;

export const pythonCases: readonly Case[] = [
  [
    'sql-injection',
    flask("cur.execute(\"select * from a where n = '%s'\" % request.args.get('n'))"),
    flask("cur.execute('select * from a where n = %s', (request.args.get('n'),))"),
  ],
  [
    'sql-injection',
    flask('q = f"select * from a where n = \'{name}\'"\ndb.session.execute(q)'),
    flask('q = f"select * from a where n = {int(name)}"\ndb.session.execute(q)'),
  ],
  [
    'sql-injection',
    flask("sort = request.args['sort']\ncur.execute('select * from a order by ' + sort)"),
    flask(
      "sort = request.args['sort']\nif sort not in ('a', 'b'):\n    return 'no', 400\n" +
        "cur.execute('select * from a order by ' + sort)",
    ),
  ],
  [
    'nosql-injection',
    flask("users.find_one({'name': request.json['name']})"),
    flask("users.find_one({'name': str(request.json['name'])})"),
  ],
  [
    'command-injection',
    flask("os.system('ping ' + request.args['host'])"),
    flask("subprocess.run(['ping', '-c', '1', request.args['host']])"),
  ],
  [
    'command-injection',
    flask("subprocess.run('ls ' + name, shell=True)"),
    flask("import shlex\nsubprocess.run('ls ' + shlex.quote(name), shell=True)"),
  ],
  [
    'code-injection',
    flask("x = eval(request.form['a'])"),
    flask("import ast\nx = ast.literal_eval(request.form['a'])"),
  ],
  [
    'cross-site-scripting',
    flask("return '<p>' + request.args['q'] + '</p>'"),
    flask("from html import escape\nreturn '<p>' + escape(request.args['q']) + '</p>'"),
  ],
  [
    'cross-site-scripting',
    flask("return make_response('<b>%s</b>' % name)"),
    flask('from flask import jsonify\nreturn jsonify(name=name)'),
  ],
  [
    'path-traversal',
    flask("return open('/data/' + name).read()"),
    flask("return open('/data/' + os.path.basename(name)).read()"),
  ],
  [
    'path-traversal',
    flask("p = os.path.join(BASE, request.args['f'])\nwith open(p) as f:\n    x = f.read()"),
    flask(
      "p = os.path.realpath(os.path.join(BASE, request.args['f']))\nif not p.startswith(BASE + " +
        'os.sep):\n    abort(403)\nwith open(p) as f:\n    x = f.read()',
    ),
  ],
  [
    'server-side-request-forgery',
    flask("requests.get(request.args['url'])", 'import requests'),
    flask("requests.get('https://api.example.test/' + request.args['id'])", 'import requests'),
  ],
  [
    'server-side-request-forgery',
    flask("requests.get(request.args['url'])", 'import requests'),
    flask(
      "from urllib.parse import urlparse\nurl = request.args['url']\nif urlparse(url).hostname " +
        'not in HOSTS:\n    abort(400)\nrequests.get(url)',
      'import requests',
    ),
  ],
  [
    'open-redirect',
    flask("return redirect(request.args['next'])"),
    flask("return redirect('/home?from=' + request.args['next'])"),
  ],
  [
    'unsafe-deserialization',
    flask('pickle.loads(request.data)', 'import pickle'),
    flask('json.loads(request.data)', 'import json'),
  ],
  [
    'unsafe-deserialization',
    flask('yaml.load(request.data, Loader=yaml.Loader)', 'import yaml'),
    flask('yaml.load(request.data, Loader=yaml.SafeLoader)', 'import yaml'),
  ],
  [
    'template-injection',
    flask("return render_template_string('Hi ' + name)", 'from flask import render_template_string'),
    flask("return render_template_string('Hi {{ n }}', n=name)", 'from flask import render_template_string'),
  ],
  [
    'xml-external-entities',
    flask('etree.fromstring(request.data)', 'from lxml import etree'),
    flask('etree.fromstring(request.data, etree.XMLParser(resolve_entities=False))', 'from lxml import etree'),
  ],
  [
    'ldap-injection',
    flask("conn.search_s('dc=a', 2, '(uid=' + name + ')')"),
    flask(
      "from ldap.filter import escape_filter_chars\nconn.search_s('dc=a', 2, '(uid=' + " +
        "escape_filter_chars(name) + ')')",
    ),
  ],
  ['xpath-injection', flask('tree.xpath("//u[n=\'" + name + "\']")'), flask("tree.xpath('//u[n=$n]', n=name)")],
  [
    'pattern-from-input',
    flask("re.match(request.args['p'], text)", 'import re'),
    flask("re.match(re.escape(request.args['p']), text)", 'import re'),
  ],
  [
    'log-injection',
    flask("logging.info('login of ' + name)", 'import logging'),
    flask("logging.info('login')", 'import logging'),
  ],
  [
    'unsafe-reflection',
    flask('importlib.import_module(name)', 'import importlib'),
    flask("importlib.import_module('plugins.a')", 'import importlib'),
  ],
  ['weak-hash', 'import hashlib\nhashlib.md5(a)\n', 'import hashlib\nhashlib.md5(a, usedforsecurity=False)\n'],
  [
    'weak-cipher',
    'from Crypto.Cipher import DES\nDES.new(k)\n',
    'from Crypto.Cipher import AES\nAES.new(k, AES.MODE_GCM)\n',
  ],
  ['weak-random', 'import random\ntoken = random.randint(0, 9)\n', 'import secrets\ntoken = secrets.randbelow(10)\n'],
  [
    'weak-key',
    'from Crypto.PublicKey import RSA\nRSA.generate(1024)\n',
    'from Crypto.PublicKey import RSA\nRSA.generate(3072)\n',
  ],
  [
    'tls-not-verified',
    "import requests\nrequests.get('https://a', verify=False)\n",
    "import requests\nrequests.get('https://a', verify='/etc/ca.pem')\n",
  ],
  [
    'old-tls',
    'import ssl\nssl.SSLContext(ssl.PROTOCOL_SSLv3)\n',
    'import ssl\nssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)\n',
  ],
  [
    'ssh-host-not-verified',
    'import paramiko\nc = paramiko.SSHClient()\nc.set_missing_host_key_policy(paramiko.AutoAddPolicy())\n',
    'import paramiko\nc = paramiko.SSHClient()\nc.set_missing_host_key_policy(paramiko.RejectPolicy())\n',
  ],
  [
    'jwt-not-verified',
    "import jwt\njwt.decode(t, options={'verify_signature': False})\n",
    "import jwt\njwt.decode(t, key, algorithms=['RS256'])\n",
  ],
  [
    'debug-on',
    flask('return 1').concat('\napp.run(debug=True)\n'),
    flask('return 1').concat('\napp.run(debug=False)\n'),
  ],
  [
    'escaping-off',
    'import jinja2\njinja2.Environment(loader=x)\n',
    'import jinja2\njinja2.Environment(loader=x, autoescape=True)\n',
  ],
  ['unsafe-loader', 'import yaml\nyaml.load(f)\n', 'import yaml\nyaml.safe_load(f)\n'],
  ['predictable-temporary-file', 'import tempfile\ntempfile.mktemp()\n', 'import tempfile\ntempfile.mkstemp()\n'],
  ['loose-permissions', "import os\nos.chmod('/a', 0o777)\n", "import os\nos.chmod('/a', 0o600)\n"],
  ['plain-protocol', "import ftplib\nftplib.FTP('a')\n", "import ftplib\nftplib.FTP_TLS('a')\n"],
  ['listens-everywhere', "s.bind(('0.0.0.0', 80))\n", "s.bind(('127.0.0.1', 80))\n"],
  [
    'weak-password-hash',
    "import hashlib\nhashlib.pbkdf2_hmac('sha256', p, s, 1000)\n",
    "import hashlib\nhashlib.pbkdf2_hmac('sha256', p, s, 600000)\n",
  ],
];
