// Hazards of folding and planning, each shown by the smallest rules on which the compiled engine once differed from the
// oracle, or might. `why` says which shortcut would be wrong here.
import t from 'tap';
import { expectAgreement, type RegressionRow } from './testing/regression-rows.js';

const form = ['Content-Type', 'application/x-www-form-urlencoded'];

const rows: readonly RegressionRow[] = [
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
];

t.test('the engines agree', (t) => expectAgreement(t, rows));
