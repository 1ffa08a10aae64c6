// Hazards of what the compiled engine remembers and checks beforehand (memo, shapes of heads, TX memo, score sequences,
// quick checks), each shown by the smallest rules. `why` says which shortcut would be wrong here.
import t from 'tap';
import { expectAgreement, type RegressionRow } from './testing/regression-rows.js';

const rows: readonly RegressionRow[] = [
  {
    why: 'a value known in the class of Cookie headers says nothing about another header',
    rules: `
SecRule REQUEST_HEADERS|!REQUEST_HEADERS:Cookie "@rx evil" "id:1,phase:1,log,pass"
SecRule REQUEST_HEADERS:User-Agent "@rx (?i)bad|nasty" "id:2,phase:1,log,pass"
SecRule REQUEST_HEADERS:Cookie "@rx one" "id:3,phase:1,log,pass"
SecRule REQUEST_HEADERS:Cookie "@rx two" "id:4,phase:1,log,pass"`,
    requests: [
      { headers: ['Cookie', 'evil bad'] },
      { headers: ['Cookie', 'plain'] },
      { headers: ['Cookie', 'evil bad'] },
      { headers: ['User-Agent', 'evil bad'] },
    ],
  },
  {
    why: 'names with line ends must not be taken for two names',
    rules: `
SecRule ARGS_GET_NAMES "@rx ^.*$" "id:1,phase:1,nolog,pass,t:none,setvar:'tx.note_%{tx.0}=/%{tx.0}/',capture,chain"
  SecRule TX:/^note_/ "@within %{tx.list}" "setvar:tx.hit=1"
SecRule TX:hit "@eq 1" "id:2,phase:1,deny"
SecAction "id:3,phase:2,nolog,pass,setvar:tx.end=1"`,
    requests: [{ uri: '/?a%0ab=1' }, { uri: '/?a=1&b=1' }, { uri: '/?a%0ab=1' }],
  },
  {
    why: 'a note that is made from an earlier rule’s capture is not a function of the names',
    rules: `
SecRule ARGS:c "@rx ^(.)" "id:1,phase:1,nolog,pass,capture"
SecRule ARGS_GET_NAMES "@rx ^.*$" "id:2,phase:1,nolog,pass,setvar:'tx.note_%{MATCHED_VAR}=%{tx.0}',chain"
  SecRule TX:/^note_/ "@streq z" "setvar:tx.hit=1"
SecRule TX:hit "@eq 1" "id:3,phase:1,deny"`,
    requests: [{ uri: '/?c=a' }, { uri: '/?c=z' }, { uri: '/?c=b' }],
  },
  {
    why: 'a request that fills TX keeps no constant and no score from being set, and a replay out',
    rules: `
SecArgumentsLimit 20000
SecRule ARGS_NAMES "@rx ." "id:1,phase:1,nolog,pass,setvar:tx.h_%{MATCHED_VAR}=1"
SecRule REQUEST_HEADERS_NAMES "@rx ^.*$" "id:2,phase:1,nolog,pass,capture,setvar:tx.q_%{tx.0}=%{tx.0},chain"
  SecRule TX:/^q_/ "@streq zz"
SecAction "id:3,phase:1,nolog,pass,setvar:tx.late=1"
SecRule TX:late "@eq 1" "id:4,phase:1,deny"`,
    requests: [
      { headers: ['x', 'y'] },
      { uri: `/?${Array.from({ length: 10_100 }, (_, index) => `a${index}`).join('&')}`, headers: ['x', 'y'] },
    ],
  },
  {
    why: 'heads of equal names and other values, methods, orders and counts are not of one shape',
    rules: `
SecRule REQUEST_HEADERS:X-Test "!@rx ^good$" "id:1,phase:1,deny"
SecRule &REQUEST_HEADERS:X-Test "@gt 1" "id:2,phase:1,log,pass"
SecRule REQUEST_METHOD "@streq PUT" "id:3,phase:1,log,pass,chain"
  SecRule REQUEST_HEADERS:X-Other "@streq a" "setvar:tx.seen=1"
SecRule REQUEST_HEADERS:X-Other "@streq b" "id:4,phase:2,log,pass"
SecRule REQUEST_PROTOCOL "@streq HTTP/1.1" "id:5,phase:1,nolog,pass,chain"
  SecRule REQUEST_HEADERS:X-Test|REQUEST_METHOD "@streq good" "ctl:ruleRemoveById=4"`,
    requests: [
      { headers: ['X-Test', 'good', 'X-Other', 'a'] },
      { headers: ['X-Test', 'evil', 'X-Other', 'a'] },
      { headers: ['X-Test', 'good', 'X-Other', 'a'] },
      { method: 'PUT', headers: ['X-Test', 'good', 'X-Other', 'a'] },
      { headers: ['X-Other', 'good', 'X-Test', 'a'] },
      { headers: ['X-Other', 'b'] },
      { headers: ['X-Test', 'good', 'x-test', 'good', 'X-Other', 'b'] },
      { headers: ['X-Test', 'good', 'x-test', 'evil'] },
      { headers: ['X-Test', 'evil', 'x-test', 'good'] },
      { headers: [] },
      { headers: ['X-Test', ''] },
    ],
  },
  {
    why: 'more headers that are asked about than a shape holds, and then fewer again',
    rules:
      'SecRule REQUEST_HEADERS:X-Test "@streq evil" "id:1,phase:1,log,pass,setvar:tx.n=+1"\n' +
      'SecRule REQUEST_HEADERS:X-Test "!@rx ^[a-z]*$" "id:2,phase:1,deny"',
    requests: [
      { headers: ['X-Test', 'a'] },
      { headers: [...Array(70).keys()].flatMap((n) => ['X-Test', n === 69 ? 'EVIL' : 'evil']) },
      { headers: ['X-Test', 'a'] },
      { headers: [...Array(70).keys()].flatMap(() => ['X-Test', 'evil']) },
    ],
  },
  {
    why: 'rules that add scores up are repeated only from equal scores',
    rules: `
SecAction "id:1,phase:1,nolog,pass,setvar:tx.a=0,setvar:tx.sum=0"
SecRule ARGS "@rx x" "id:2,phase:2,nolog,pass,setvar:tx.a=+1"
SecRule ARGS "@rx y" "id:3,phase:2,nolog,pass,setvar:tx.b=7"
SecAction "id:4,phase:2,nolog,pass,setvar:tx.sum=+%{tx.a},setvar:tx.last=%{tx.sum}"
SecAction "id:5,phase:2,nolog,pass,setvar:tx.sum=+%{tx.b},setvar:tx.copy=%{tx.c}"
SecRule TX:sum "@ge 8" "id:6,phase:2,deny"
SecAction "id:7,phase:5,nolog,pass,setvar:tx.sum=-1"
SecAction "id:8,phase:5,nolog,pass,setvar:tx.sum=-%{tx.a}"`,
    requests: [
      { uri: '/?a=q' },
      { uri: '/?a=x' },
      { uri: '/?a=q' },
      { uri: '/?a=y' },
      { uri: '/?a=x&b=y' },
      { uri: '/?a=y&b=x&c=x' },
      { uri: '/?a=q' },
    ],
  },
  {
    why: 'one rule of a run of certain rules is removed, or a candidate stands between them',
    rules: `
SecRule ARGS:r "@streq 1" "id:1,phase:1,nolog,pass,ctl:ruleRemoveById=4"
SecAction "id:2,phase:1,nolog,pass,setvar:tx.n=%{tx.zero}1"
SecRule ARGS "@rx x" "id:3,phase:2,nolog,pass,setvar:tx.n=5"
SecAction "id:4,phase:2,nolog,pass,setvar:tx.n=+1"
SecRule ARGS "@rx y" "id:5,phase:2,nolog,pass,setvar:tx.n=9"
SecAction "id:6,phase:2,nolog,pass,setvar:tx.n=+1"
SecAction "id:7,phase:2,nolog,pass,setvar:tx.m=%{tx.n}"`,
    requests: [
      { uri: '/?a=q' },
      { uri: '/?a=y' },
      { uri: '/?a=x' },
      { uri: '/?a=q&r=1' },
      { uri: '/?a=y&r=1' },
      { uri: '/?a=x&b=y' },
      { uri: '/?a=q' },
    ],
  },
  {
    why: 'a rule whose check is exact, and one of its targets taken away',
    rules: `
SecRule ARGS:r "@streq 1" \\
    "id:1,phase:1,nolog,pass,ctl:ruleRemoveTargetById=2;REQUEST_METHOD,ctl:ruleRemoveTargetByTag=t1;TX:n"
SecRule REQUEST_METHOD "!@rx ^POST$" "id:2,phase:1,nolog,pass,setvar:tx.n=+1,ctl:ruleRemoveById=9"
SecRule TX:n "!@eq 3" "id:3,phase:1,nolog,pass,tag:'t1',setvar:tx.m=+1"
SecRule REQUEST_HEADERS:X-Test "!@streq a" "id:4,phase:1,nolog,pass,setvar:tx.k=+1"
SecRule ARGS "@rx x" "id:9,phase:2,deny"`,
    requests: [
      { uri: '/?a=x' },
      { uri: '/?a=x&r=1' },
      { uri: '/?a=x', headers: ['X-Test', 'b', 'X-Test', 'c'] },
      { uri: '/?a=x', headers: ['X-Test', 'a'] },
      { method: 'POST', uri: '/?a=x' },
    ],
  },
];

t.test('the engines agree, whatever is remembered', (t) => expectAgreement(t, rows));
