// For each rule that PHP has: a text that breaks it, and a twin that does not.
import type { Case } from './case.js';

const php = (body: string): string => `<?php
$p = $_GET['p'];
${body}
`;

export const phpCases: readonly Case[] = [
  [
    'sql-injection',
    php('mysql_query("select * from a where b = \'$p\'");'),
    php('$s = $pdo->prepare("select * from a where b = ?"); $s->execute([$p]);'),
  ],
  [
    'sql-injection',
    php('mysql_query("select * from a where b = " . mysql_real_escape_string($p));'),
    php('mysql_query("select * from a where b = \'" . mysql_real_escape_string($p) . "\'");'),
  ],
  [
    'sql-injection',
    php('$q = sprintf("select * from a where b = %s", $p); $db->query($q);'),
    php('$q = sprintf("select * from a where b = %d", $p); $db->query($q);'),
  ],
  ['command-injection', php('system("ls " . $p);'), php('system("ls " . escapeshellarg($p));')],
  ['code-injection', php('eval("return $p;");'), php('settype($p, "integer"); eval("return $p;");')],
  ['cross-site-scripting', php('echo "<p>" . $p . "</p>";'), php('echo "<p>" . htmlspecialchars($p) . "</p>";')],
  [
    'cross-site-scripting',
    `<script>${php('echo "var a = \'" . htmlspecialchars($p) . "\';";')}`,
    `<p>${php('echo "a" . htmlspecialchars($p);')}`,
  ],
  [
    'cross-site-scripting',
    php('echo "<a href=" . htmlspecialchars($p) . ">";'),
    php('echo "<a title=\\"" . htmlspecialchars($p) . "\\">";'),
  ],
  [
    'file-inclusion',
    php('include "pages/" . $p;'),
    php('$l = ["a", "b"]; if (in_array($p, $l, true)) { include "pages/" . $p; }'),
  ],
  ['path-traversal', php('readfile("/data/" . $p);'), php('readfile("/data/" . basename($p));')],
  ['open-redirect', php('header("Location: " . $p);'), php('header("Location: /users/" . $p);')],
  ['server-side-request-forgery', php('$c = curl_init($p);'), php('$c = curl_init("https://api.example.test/" . $p);')],
  ['unsafe-deserialization', php('unserialize($p);'), php("unserialize($p, ['allowed_classes' => false]);")],
  [
    'ldap-injection',
    php('ldap_search($c, "dc=a", "(uid=" . $p . ")");'),
    php('ldap_search($c, "dc=a", "(uid=" . ldap_escape($p) . ")");'),
  ],
  [
    'xpath-injection',
    php('$x = new DOMXPath($d); $x->query("//a[b=\'" . $p . "\']");'),
    php('$x = new DOMXPath($d); $x->query("//a");'),
  ],
  [
    'xml-external-entities',
    php('$d = new DOMDocument(); $d->loadXML($p, LIBXML_NOENT);'),
    php('$d = new DOMDocument(); $d->loadXML($p);'),
  ],
  ['pattern-from-input', php('preg_match("/" . $p . "/", $t);'), php('preg_match("/" . preg_quote($p) . "/", $t);')],
  ['debug-on', php('phpinfo();'), php('ini_set("display_errors", "0");')],
  ['loose-permissions', php('chmod("/a", 0777);'), php('chmod("/a", 0600);')],
  [
    'cookie-without-secure',
    php('setcookie("a", "b", 0, "/", "", false);'),
    php('setcookie("a", "b", 0, "/", "", true);'),
  ],
  [
    'cookie-without-httponly',
    php('setcookie("a", "b", 0, "/", "", true, false);'),
    php('setcookie("a", "b", 0, "/", "", true, true);'),
  ],
  ['unsafe-parser', php('libxml_disable_entity_loader(false);'), php('libxml_disable_entity_loader(true);')],
  [
    'hardcoded-password',
    php('new PDO("mysql:host=a", "root", "correct-horse");'),
    php('new PDO("mysql:host=a", "root", getenv("P"));'),
  ],
];
