// Atlassian: Confluence, Jira, Bitbucket.
import { asPath, asSent, type CatalogPatch, definePatch, json } from './entry.js';

const r = String.raw;

export const atlassianPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007101,
    cve: 'CVE-2022-26134',
    title: 'Confluence evaluates OGNL in the path',
    product: 'Confluence Server and Data Center',
    affected: '1.3.0 to 7.18.0',
    cwe: 'CWE-917',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx [$]\{[^}]*[(@#]`, 'urlDecodeUni']],
    attack: [
      ['static call in the path', 'GET /%24%7B%28%23a%3D%40java.lang.Runtime%40getRuntime%28%29%29%7D/'],
      ['plain characters', 'GET /wiki/${@java.lang.Math@random()}/x'],
    ],
    benign: [
      ['a template variable', 'GET /display/DOC/%24%7Bversion%7D'],
      ['parentheses', 'GET /display/DOC/Setup+(new)'],
      ['in the query', 'GET /dosearchsite.action?queryString=%24%7B%28a%29%7D'],
    ],
  }),
  definePatch({
    id: 1007102,
    cve: 'CVE-2021-26084',
    title: 'Confluence evaluates OGNL in page variables',
    product: 'Confluence Server and Data Center',
    affected: 'before 6.13.23, 7.4.11, 7.11.6, 7.12.5',
    cwe: 'CWE-917',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'REQUEST_FILENAME',
        r`@rx (?:/pages/(?:createpage(?:-entervariables)?|doenterpagevariables|` +
          r`templates2/viewpagetemplate)\.action|/users/user-dark-features|/templates/editor-preload-container)`,
        asPath,
      ],
      ['ARGS', r`@rx \x5cu00(?:27|22)|['\x22]\s*\+\s*[{#]`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'escaped quote in queryString',
        'POST /pages/doenterpagevariables.action',
        {},
        'queryString=aaa%5Cu0027%2B%7BClass.forName(%5Cu0027javax.script.ScriptEngineManager%5Cu0027)%7D%2B%5Cu0027',
      ],
    ],
    benign: [
      ['a title with an apostrophe', 'POST /pages/createpage.action', {}, "title=It's+here&queryString=spaceKey%3DDOC"],
      ['the escape elsewhere', 'POST /rest/api/content', json, '{"title":"say \\\\u0027hi\\\\u0027"}'],
    ],
  }),
  definePatch({
    id: 1007103,
    cve: 'CVE-2023-22515',
    title: 'Confluence setup can be reopened',
    product: 'Confluence Server and Data Center',
    affected: '8.0.0 to 8.5.1',
    cwe: 'CWE-284',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'REQUEST_FILENAME|ARGS_NAMES',
        r`@rx (?:^bootstrapstatusprovider\.|/setup/(?:setupadministrator|finishsetup)(?:-start)?\.action)`,
        'urlDecodeUni,normalizePathWin,lowercase',
      ],
    ],
    attack: [
      [
        'marking the setup unfinished',
        'GET /server-info.action?bootstrapStatusProvider.applicationConfig.setupComplete=false',
      ],
      ['making an administrator', 'POST /setup/setupadministrator.action', {}, 'username=x'],
    ],
    benign: [
      ['server info', 'GET /server-info.action'],
      ['a page about setup', 'GET /display/DOC/setup?name=setupadministrator'],
      ['the words in a value', 'GET /dosearchsite.action?queryString=bootstrapStatusProvider.applicationConfig'],
    ],
  }),
  definePatch({
    id: 1007104,
    cve: 'CVE-2023-22518',
    title: 'Confluence restore without authorisation',
    product: 'Confluence Server and Data Center',
    affected: 'all before 7.19.16, 8.3.4, 8.4.4, 8.5.3, 8.6.1',
    cwe: 'CWE-863',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /json/setup-restore(?:-local|-progress)?\.action`, asPath]],
    attack: [
      ['upload of a backup', 'POST /json/setup-restore.action?synchronous=true'],
      ['local file', 'POST /wiki/json/setup-restore-local.action'],
    ],
    benign: [
      ['another action', 'GET /json/setup-info.action'],
      ['a page', 'GET /display/OPS/setup-restore.action+explained'],
    ],
  }),
  definePatch({
    id: 1007105,
    cve: 'CVE-2023-22527',
    title: 'Confluence templates evaluate OGNL',
    product: 'Confluence Server and Data Center',
    affected: '8.0.x to 8.5.3',
    cwe: 'CWE-74',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /template/[^/]+/[^/]+\.vm(?:$|;)`, asPath]],
    attack: [
      [
        'calling a template',
        'POST /template/aui/text-inline.vm',
        {},
        'label=%5Cu0027%2B%23request.get(%5Cu0027.KEY_velocity.struts2.context%5Cu0027)%2B%5Cu0027',
      ],
    ],
    benign: [
      ['a page template', 'GET /pages/templates2/listpagetemplates.action'],
      ['a file with this ending', 'GET /download/attachments/1/text-inline.vm'],
      ['a folder only', 'GET /template/aui/'],
    ],
  }),
  definePatch({
    id: 1007106,
    cve: 'CVE-2019-3396',
    title: 'Confluence widget macro includes templates',
    product: 'Confluence Server and Data Center',
    affected: 'before 6.6.12, 6.12.3, 6.13.3, 6.14.2',
    cwe: 'CWE-22',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /rest/tinymce/1/macro/preview', asPath],
      ['ARGS_NAMES', r`@rx (?:^|\.)_template$`],
    ],
    attack: [
      [
        'file template',
        'POST /rest/tinymce/1/macro/preview',
        json,
        '{"contentId":"1","macro":{"name":"widget","body":"","params":{"url":"https://www.viddler.com/v/1",' +
          '"width":"1","_template":"file:///etc/passwd"}}}',
      ],
    ],
    benign: [
      [
        'an ordinary widget',
        'POST /rest/tinymce/1/macro/preview',
        json,
        '{"contentId":"1","macro":{"name":"widget","body":"","params":' +
          '{"url":"https://www.youtube.com/watch?v=1","width":"400"}}}',
      ],
      ['the name elsewhere', 'POST /rest/api/content', json, '{"_template":"x"}'],
    ],
  }),
  definePatch({
    id: 1007107,
    cve: 'CVE-2021-26086',
    title: 'Jira serves files of WEB-INF',
    product: 'Jira Server and Data Center',
    affected: 'before 8.5.14, 8.13.6, 8.16.1',
    cwe: 'CWE-22',
    severity: 'medium',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /_/;?.*/(?:web-inf|meta-inf)/`, asSent]],
    attack: [
      ['descriptor', 'GET /s/cfx/_/;/WEB-INF/web.xml'],
      ['build information', 'GET /s/everything/_/;/META-INF/maven/com.atlassian.jira/jira-webapp-dist/pom.xml'],
    ],
    benign: [
      ['a batched resource', 'GET /s/d41d8cd98f00b204e9800998ecf8427e-CDN/1/_/download/batch/a.css'],
      ['the name in a search', 'GET /issues/?jql=text~%22/_/;/WEB-INF/%22'],
    ],
  }),
  definePatch({
    id: 1007108,
    cve: 'CVE-2022-36804',
    title: 'Bitbucket passes options to git',
    product: 'Bitbucket Server and Data Center',
    affected: '7.0.0 to 8.3.0',
    cwe: 'CWE-88',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx /rest/api/[^/]+/(?:projects|users)/[^/]+/repos/[^/]+/`, asPath],
      ['ARGS_GET', r`@rx \x00`],
    ],
    attack: [
      [
        'NUL and an option',
        'GET /rest/api/latest/projects/PROJ/repos/repo/archive?filename=a&at=master&path=x&' +
          'prefix=ax%00--exec=%60id%60%00--remote=origin',
      ],
    ],
    benign: [
      ['an archive', 'GET /rest/api/latest/projects/PROJ/repos/repo/archive?format=zip&prefix=repo-1.0/'],
      ['dashes', 'GET /rest/api/1.0/projects/P/repos/r/commits?until=feature--exec'],
    ],
  }),
];
