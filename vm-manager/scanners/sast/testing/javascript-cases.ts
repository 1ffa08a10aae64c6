// For each rule that JavaScript has: a text that breaks it, and a twin that does not.
import type { Case } from './case.js';

const route = (body: string): string => `const express = require('express');
const app = express();
app.get('/x', async (req, res) => {
${body}
});
`;

export const javascriptCases: readonly Case[] = [
  [
    'sql-injection',
    route("db.query(`select * from a where id = '${req.query.id}'`);"),
    route("db.query('select * from a where id = $1', [req.query.id]);"),
  ],
  [
    'sql-injection',
    route("const id = req.params.id; const q = 'select 1 where id=' + id; await pool.query(q);"),
    route("const id = Number(req.params.id); const q = 'select 1 where id=' + id; await pool.query(q);"),
  ],
  [
    'sql-injection',
    route("const allowed = ['a', 'b']; db.all('select * from t order by ' + req.query.sort);"),
    route(
      "const allowed = ['a', 'b']; const { sort } = req.query; if (!allowed.includes(sort)) " +
        "return res.sendStatus(400); db.all('select * from t order by ' + sort);",
    ),
  ],
  [
    'nosql-injection',
    route('const user = await users.findOne({ name: req.body.name, password: req.body.password });'),
    route('const user = await users.findOne({ name: String(req.body.name), id: req.params.id });'),
  ],
  [
    'command-injection',
    "const { exec } = require('child_process');\n" + route("exec('ping ' + req.query.host);"),
    "const { execFile } = require('child_process');\n" + route("execFile('ping', ['-c', '1', req.query.host]);"),
  ],
  [
    'command-injection',
    "import cp from 'node:child_process';\n" + route("cp.spawn('sh', ['-c', `ls ${req.query.dir}`]);"),
    "import cp from 'node:child_process';\n" +
      route(
        "if (!/^[a-z]+$/.test(req.query.dir)) return res.status(400).end(); cp.spawn('sh', ['-c', " +
          '`ls ${req.query.dir}`]);',
      ),
  ],
  [
    'code-injection',
    route('const sum = eval(req.body.formula); res.json({ sum });'),
    route('const sum = JSON.parse(req.body.formula); res.json({ sum });'),
  ],
  [
    'cross-site-scripting',
    route("res.send('<p>' + req.query.name + '</p>');"),
    "const escapeHtml = require('escape-html');\n" + route("res.send('<p>' + escapeHtml(req.query.name) + '</p>');"),
  ],
  [
    'cross-site-scripting',
    "const at = new URLSearchParams(location.search).get('q');\ndocument.getElementById('a').innerHTML = at;",
    "const at = new URLSearchParams(location.search).get('q');\ndocument.getElementById('a').textContent = at;",
  ],
  [
    'path-traversal',
    "const fs = require('fs');\nconst path = require('path');\n" +
      route('const at = path.join(root, req.query.file);\nfs.readFile(at, () => {});'),
    "const fs = require('fs');\nconst path = require('path');\n" +
      route(
        'const at = path.resolve(root, req.query.file);\nif (!at.startsWith(root + path.sep)) return ' +
          'res.sendStatus(403);\nfs.readFile(at, () => {});',
      ),
  ],
  [
    'path-traversal',
    "const fs = require('fs');\n" + route("fs.createReadStream('/data/' + req.params.name).pipe(res);"),
    "const fs = require('fs');\nconst path = require('path');\n" +
      route("fs.createReadStream('/data/' + path.basename(req.params.name)).pipe(res);"),
  ],
  [
    'server-side-request-forgery',
    "const axios = require('axios');\n" + route('const got = await axios.get(req.query.url); res.json(got.data);'),
    "const axios = require('axios');\n" +
      route('const got = await axios.get(`https://api.example.test/users/${req.query.id}`); res.json(got.data);'),
  ],
  [
    'server-side-request-forgery',
    route('const got = await fetch(req.body.url);'),
    route(
      "const hosts = new Set(['a.test']); const url = new URL(req.body.url); if " +
        "(!hosts.has(url.hostname)) throw new Error('no'); const got = await fetch(url);",
    ),
  ],
  [
    'open-redirect',
    route('res.redirect(req.query.next);'),
    route("const targets = { home: '/' }; res.redirect(targets[req.query.next] ?? '/');"),
  ],
  ['open-redirect', route('res.redirect(301, req.query.next);'), route("res.redirect('/users/' + req.query.next);")],
  [
    'unsafe-deserialization',
    "const s = require('node-serialize');\n" + route('s.unserialize(req.cookies.profile);'),
    route('JSON.parse(req.cookies.profile);'),
  ],
  [
    'template-injection',
    "const ejs = require('ejs');\n" + route("res.send(ejs.render('<p>' + req.query.a + '</p>'));"),
    route("res.render('page', { a: req.query.a });"),
  ],
  [
    'pattern-from-input',
    route('const found = new RegExp(req.query.q).test(text);'),
    "const _ = require('lodash');\n" + route('const found = new RegExp(_.escapeRegExp(req.query.q)).test(text);'),
  ],
  [
    'prototype-pollution',
    "const _ = require('lodash');\n" + route('_.merge(settings, req.body);'),
    "const _ = require('lodash');\n" + route('_.merge(settings, { name: String(req.body.name) });'),
  ],
  [
    'xml-external-entities',
    "const libxmljs = require('libxmljs');\n" + route('libxmljs.parseXml(req.body, { noent: true });'),
    "const libxmljs = require('libxmljs');\n" + route('libxmljs.parseXml(req.body, { noent: false });'),
  ],
  [
    'file-inclusion',
    route("const made = require('./plugins/' + req.query.name);"),
    route(
      "const names = ['a']; if (!names.includes(req.query.name)) return; const made = " +
        "require('./plugins/' + req.query.name);",
    ),
  ],
  [
    'uncontrolled-allocation',
    route('const b = Buffer.alloc(req.query.n);'),
    route('const b = Buffer.alloc(Math.min(Number(req.query.n), 100));'),
  ],
  [
    'xpath-injection',
    "const xpath = require('xpath');\n" + route('xpath.select("//user[name=\'" + req.query.n + "\']", doc);'),
    "const xpath = require('xpath');\n" + route("xpath.select('//user', doc);"),
  ],
  [
    'ldap-injection',
    route("client.search('ou=a', { filter: `(uid=${req.query.u})` });"),
    route("client.search('ou=a', { filter: '(uid=*)' });"),
  ],
  [
    'weak-hash',
    "import { createHash } from 'node:crypto';\ncreateHash('md5').update(a);",
    "import { createHash } from 'node:crypto';\ncreateHash('sha256').update(a);",
  ],
  [
    'weak-cipher',
    "const crypto = require('crypto');\ncrypto.createCipheriv('aes-128-ecb', k, null);",
    "const crypto = require('crypto');\ncrypto.createCipheriv('aes-256-gcm', k, iv);",
  ],
  [
    'tls-not-verified',
    "https.request({ host: 'a', rejectUnauthorized: false });",
    "https.request({ host: 'a', rejectUnauthorized: true });",
  ],
  ['old-tls', "tls.connect({ minVersion: 'TLSv1' });", "tls.connect({ minVersion: 'TLSv1.2' });"],
  [
    'weak-key',
    "crypto.generateKeyPairSync('rsa', { modulusLength: 1024 });",
    "crypto.generateKeyPairSync('rsa', { modulusLength: 4096 });",
  ],
  [
    'cookie-without-secure',
    route("res.cookie('s', id, { secure: false });"),
    route("res.cookie('s', id, { secure: true });"),
  ],
  [
    'cookie-without-httponly',
    route("res.cookie('s', id, { httpOnly: false });"),
    route("res.cookie('s', id, { httpOnly: true });"),
  ],
  [
    'jwt-not-verified',
    "const jwt = require('jsonwebtoken');\njwt.verify(token, null);",
    "const jwt = require('jsonwebtoken');\njwt.verify(token, key, { algorithms: ['RS256'] });",
  ],
  [
    'hardcoded-password',
    "const jwt = require('jsonwebtoken');\njwt.sign({ id }, 'correct-horse');",
    "const jwt = require('jsonwebtoken');\njwt.sign({ id }, settings.key);",
  ],
];
