// Rule sets on which the compiled engine once differed from the oracle, or might: each row is the smallest that shows
// one hazard of folding, planning, memory or quick checks. `why` says which shortcut would be wrong here.
import t from 'tap';
import { compareText, createMemoryCache, type ShortRequest } from './testing/rule-text.js';

interface Row {
  readonly why: string;
  readonly rules: string;
  readonly requests: readonly ShortRequest[];
}
const prelude =
  'SecRuleEngine On\nSecRequestBodyAccess On\nSecResponseBodyAccess On\nSecDefaultAction "phase:1,log,auditlog,pass"\n';
const form = ['Content-Type', 'application/x-www-form-urlencoded'];

const rows: readonly Row[] = [
  {
    why: 'a setvar that adds runs once for every value that matches, so the next link may see a larger number',
    rules: `
SecAction "id:1,phase:1,nolog,pass,setvar:tx.n=0"
SecRule ARGS "@rx x" "id:2,phase:1,pass,nolog,chain,setvar:tx.n=+1"
  SecRule TX:n "@eq 2" "setvar:tx.flag=1"
SecRule TX:flag "@eq 1" "id:3,phase:1,deny"`,
    requests: [{ uri: '/?a=x&b=x' }, { uri: '/?a=x' }, { uri: '/?a=x&b=x&c=x' }],
  },
  {
    why: 'a setvar that reads what it writes grows with every matching value',
    rules: `
SecAction "id:1,phase:1,nolog,pass,setvar:tx.s=a"
SecRule ARGS "@rx x" "id:2,phase:1,pass,nolog,chain,setvar:tx.s=%{tx.s}b"
  SecRule TX:s "@streq abb" "setvar:tx.flag=1"
SecRule TX:flag "@eq 1" "id:3,phase:1,deny"`,
    requests: [{ uri: '/?a=x&b=x' }, { uri: '/?a=x' }],
  },
  {
    why: 'the match of one value changes the macro that the next value is compared with',
    rules: `
SecAction "id:1,phase:1,nolog,pass,setvar:tx.v=first"
SecRule ARGS "@streq %{tx.v}" "id:2,phase:1,pass,log,setvar:tx.v=second"`,
    requests: [{ uri: '/?a=first&b=second' }, { uri: '/?a=second&b=first' }],
  },
  {
    why: 'skipAfter may name a rule; the rules behind it run',
    rules: `
SecAction "id:1,phase:1,nolog,pass,skipAfter:3"
SecRule ARGS "@rx x" "id:2,phase:1,deny"
SecRule ARGS "@rx x" "id:3,phase:1,deny"
SecRule ARGS "@rx x" "id:4,phase:1,deny,status:404"`,
    requests: [{ uri: '/?a=x' }],
  },
  {
    why: 'skipAfter may name a rule that itself skips or never matches',
    rules: `
SecRule ARGS:s "@streq 1" "id:1,phase:1,nolog,pass,skipAfter:4"
SecAction "id:2,phase:1,nolog,pass,setvar:tx.a=1"
SecRule TX:nothing "@eq 7" "id:4,phase:1,pass,skipAfter:END"
SecRule TX:a "@eq 1" "id:5,phase:1,deny"
SecMarker END`,
    requests: [{ uri: '/?s=1' }, { uri: '/?s=2' }],
  },
  {
    why: 'allow:phase ends a phase early, and the next phase begins with what was set by then',
    rules: `
SecRule ARGS:x "@streq 1" "id:1,phase:1,allow:phase,nolog"
SecAction "id:2,phase:1,nolog,pass,setvar:tx.lvl=1"
SecRule &TX:lvl "@eq 0" "id:3,phase:2,deny"`,
    requests: [{ uri: '/?x=1' }, { uri: '/?x=2' }],
  },
  {
    why: 'allow:request goes on with the response, whose rules may still look at the body of the request',
    rules: `
SecRule ARGS_GET:x "@streq 1" "id:1,phase:1,allow:request,nolog"
SecRule ARGS_POST "@rx evil" "id:2,phase:3,deny"`,
    requests: [{ method: 'POST', uri: '/?x=1', headers: form, body: 'a=evil', response: { body: 'x' } }],
  },
  {
    why: 'allow skips phases whose values the logging phase may still look at',
    rules: `
SecRule ARGS_GET:x "@streq 1" "id:1,phase:1,allow,nolog"
SecRule ARGS_POST "@rx evil" "id:2,phase:5,log,pass"
SecRule RESPONSE_HEADERS:X-Leak "@rx secret" "id:3,phase:5,log,pass"`,
    requests: [
      {
        method: 'POST',
        uri: '/?x=1',
        headers: form,
        body: 'a=evil',
        response: { headers: ['X-Leak', 'a secret'], body: 'x' },
      },
    ],
  },
  {
    why: 'a scalar that is not known yet is the empty value, which a pattern may match',
    rules: `
SecRule REQUEST_BODY "@rx ^$" "id:1,phase:1,log,pass"
SecRule RESPONSE_BODY "@rx ^$" "id:2,phase:5,log,pass"
SecRule RESPONSE_BODY "@rx ^[0-9]*$" "id:3,phase:3,log,pass"`,
    requests: [{}, { method: 'POST', headers: form, body: 'a=b' }, { response: { body: 'x' } }],
  },
  {
    why: 'counting members chosen by an expression gives 0 where there are none',
    rules: 'SecRule &TX:/^foo/ "@eq 0" "id:1,phase:1,deny"',
    requests: [{}],
  },
  {
    why: 'what one rule matched is seen by a later one: the first must not be done at load',
    rules: `
SecRule &TX:lvl "@eq 0" "id:1,phase:1,nolog,noauditlog,pass,setvar:tx.lvl=1"
SecRule MATCHED_VAR "@streq 0" "id:2,phase:1,deny"`,
    requests: [{}],
  },
  {
    why: 'a gate with nothing left to skip still leaves what it matched',
    rules: `
SecAction "id:1,phase:1,nolog,pass,setvar:tx.g=7"
SecRule ARGS "@rx q" "id:2,phase:1,nolog,noauditlog,pass,skipAfter:END"
SecRule TX:nothing "@eq 1" "id:3,phase:1,deny"
SecMarker END
SecRule MATCHED_VAR "@streq q" "id:4,phase:1,deny"`,
    requests: [{ uri: '/?a=q' }],
  },
  {
    why: 'a SecAction leaves MATCHED_VAR alone, so its message shows the match of a rule before it',
    rules: `
SecRule &TX:lvl "@eq 0" "id:1,phase:1,nolog,noauditlog,pass,setvar:tx.lvl=1"
SecAction "id:2,phase:1,log,pass,msg:'saw %{MATCHED_VAR}'"`,
    requests: [{}],
  },
  {
    why: 'a rule that may be skipped must not be done at load',
    rules: `
SecRule ARGS:x "@streq 1" "id:1,phase:1,nolog,pass,skipAfter:END"
SecAction "id:2,phase:1,nolog,noauditlog,pass,setvar:tx.a=1"
SecMarker END
SecRule TX:a "@eq 1" "id:3,phase:1,deny"`,
    requests: [{ uri: '/?x=1' }, { uri: '/?x=2' }],
  },
  {
    why: 'a constant SecAction with a severity changes HIGHEST_SEVERITY',
    rules: `
SecAction "id:1,phase:1,nolog,noauditlog,pass,severity:2,setvar:tx.a=1"
SecRule HIGHEST_SEVERITY "@le 2" "id:2,phase:1,deny"`,
    requests: [{}],
  },
  {
    why: 'RULE is the rule that asks, not the one before it',
    rules: `
SecRule ARGS "@rx x" "id:1,phase:1,log,pass"
SecRule RULE:id "@eq 2" "id:2,phase:1,log,pass"
SecRule ARGS:a "@streq %{rule.id}" "id:3,phase:1,deny"`,
    requests: [{ uri: '/?a=3' }, { uri: '/?a=x' }],
  },
  {
    why: 'a macro may expand to what is no pattern: nothing matches, nothing throws',
    rules:
      'SecRule ARGS:v "@rx %{ARGS.p}" "id:1,phase:1,deny"\nSecRule ARGS:v "!@rx %{ARGS.p}" "id:2,phase:1,log,pass"',
    requests: [{ uri: '/?v=x&p=(' }, { uri: '/?v=x&p=x' }, { uri: '/?v=x&p=y' }],
  },
  {
    why: 'a macro may expand to what is no pattern, known at compile time',
    rules: `
SecAction "id:1,phase:1,nolog,pass,setvar:'tx.p=('"
SecRule ARGS:v "@rx %{tx.p}" "id:2,phase:1,deny"
SecRule TX:p "!@rx %{tx.p}" "id:3,phase:1,deny"
SecRule ARGS:v "!@rx %{tx.p}" "id:4,phase:1,deny"`,
    requests: [{ uri: '/?v=x' }],
  },
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
    why: 'skip and skipAfter on one rule: after the marker the count goes on',
    rules: `
SecRule ARGS:x "@streq 1" "id:1,phase:1,nolog,pass,skip:1,skipAfter:END"
SecRule ARGS "@rx 1" "id:2,phase:1,log,pass"
SecMarker END
SecRule ARGS "@rx 1" "id:3,phase:1,log,pass"
SecRule ARGS "@rx 1" "id:4,phase:1,log,pass"`,
    requests: [{ uri: '/?x=1' }, { uri: '/?x=2' }],
  },
  {
    why: 'numbers at compile time are read as at run time: leading blanks, and beyond what is exact',
    rules: `
SecAction "id:1,phase:1,nolog,noauditlog,pass,setvar:'tx.n= 12'"
SecAction "id:2,phase:1,nolog,noauditlog,pass,setvar:tx.n=+1"
SecAction "id:3,phase:1,nolog,noauditlog,pass,setvar:tx.big=9007199254740993"
SecAction "id:4,phase:1,nolog,noauditlog,pass,setvar:tx.big=+1"
SecRule TX:n "@eq 13" "id:5,phase:1,log,pass"
SecRule TX:big "@gt 5" "id:6,phase:1,log,pass"`,
    requests: [{}],
  },
  {
    why: 'variables done at load keep their place among those that a rule walks over',
    rules: `
SecRule ARGS:b "@rx ." "id:1,phase:1,nolog,noauditlog,pass,setvar:tx.w_b=1"
SecAction "id:2,phase:1,nolog,noauditlog,pass,setvar:tx.w_a=1"
SecRule TX:/^w_/ "@eq 1" "id:3,phase:1,log,pass,msg:'%{MATCHED_VAR_NAME}'"`,
    requests: [{ uri: '/?b=1' }, { uri: '/' }],
  },
  {
    why: 'a macro may name its variable by an expression',
    rules: `
SecAction "id:1,phase:1,nolog,noauditlog,pass,setvar:tx.level=3"
SecRule ARGS:a "@streq %{tx./^lev/}" "id:2,phase:1,log,pass"`,
    requests: [{ uri: '/?a=3' }, { uri: '/?a=' }],
  },
  {
    why: 'REQUEST_BODY may get its value while its phase runs',
    rules: `
SecRule ARGS_GET:f "@streq 1" "id:1,phase:2,nolog,pass,ctl:forceRequestBodyVariable=On"
SecRule REQUEST_BODY "@rx evil" "id:2,phase:2,deny"`,
    requests: [
      { method: 'POST', uri: '/?f=1', headers: ['Content-Type', 'text/plain'], body: 'evil' },
      { method: 'POST', uri: '/?f=0', headers: ['Content-Type', 'text/plain'], body: 'evil' },
    ],
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
    why: 'a removed gate opens the rules behind it',
    rules: `
SecRule ARGS:r "@streq 1" "id:1,phase:1,nolog,pass,ctl:ruleRemoveById=3"
SecAction "id:2,phase:1,nolog,pass,setvar:tx.pl=1"
SecRule TX:pl "@lt 2" "id:3,phase:1,nolog,pass,skipAfter:END"
SecRule ARGS "@rx x" "id:4,phase:1,deny"
SecMarker END
SecRule TX:pl "@lt 2" "id:5,phase:2,nolog,pass,skipAfter:END2"
SecRule ARGS "@rx x" "id:6,phase:2,deny"
SecMarker END2`,
    requests: [{ uri: '/?a=x' }, { uri: '/?a=x&r=1' }],
  },
  {
    why: 'a removed TX target makes a certain gate uncertain',
    rules: `
SecRule ARGS:r "@streq 1" "id:1,phase:1,nolog,pass,ctl:ruleRemoveTargetById=3;TX:pl"
SecAction "id:2,phase:1,nolog,pass,setvar:tx.pl=1"
SecRule TX:pl "@lt 2" "id:3,phase:1,nolog,pass,skipAfter:END"
SecRule ARGS "@rx x" "id:4,phase:1,deny"
SecMarker END`,
    requests: [{ uri: '/?a=x' }, { uri: '/?a=x&r=1' }],
  },
  {
    why: 'after ctl:ruleEngine=Off nothing runs; rules behind it must not be done at load',
    rules: `
SecRule ARGS:off "@streq 1" "id:1,phase:1,nolog,pass,ctl:ruleEngine=Off"
SecAction "id:2,phase:1,nolog,noauditlog,pass,setvar:tx.a=1"
SecRule TX:a "@eq 1" "id:3,phase:2,deny"`,
    requests: [{ uri: '/?off=1' }, { uri: '/?off=0' }],
  },
  {
    why: 'a setvar whose name comes out empty writes nothing, at load as well',
    rules: `
SecAction "id:1,phase:1,nolog,noauditlog,pass,setvar:'tx.%{tx.p}=1',setvar:tx.a=1"
SecAction "id:2,phase:1,deny,log"`,
    requests: [{ uri: '/' }],
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

t.test('the engines agree', async (t) => {
  const cache = createMemoryCache();
  for (const { why, rules, requests } of rows) {
    // Twice in a row: the second time from memory.
    t.same(
      await compareText(prelude + rules, [...requests, ...requests], cache).catch((error: unknown) => [
        `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      ]),
      [],
      why,
    );
  }
  t.equal(new Set(rows.map(({ why }) => why)).size, rows.length);
});
