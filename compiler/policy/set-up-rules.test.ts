// Raw rules that prepare the CRS are heard before it (U2); everything else stays behind it. That they count there is
// shown by proxy/e2e/api-bodies.test.ts.
import t from 'tap';
import { requireSettings } from '#settings';
import { renderPolicy, resolvePolicy } from './policy.js';
import { smallCrs } from '../testing/small-policy.js';

function placeOf(seclang: string): 'before' | 'after' | 'refused' {
  const settings = requireSettings({ custom_rules: [{ id: 1_000_000, name: 'r', kind: 'raw', seclang }] });
  const { policy } = resolvePolicy(settings, smallCrs);
  if (policy === null) return 'refused';
  const paths = renderPolicy(policy).map(({ path }) => path);
  const at = paths.findIndex((path) => /gatehouse\/custom/.test(path));
  return at < paths.indexOf(smallCrs.rules[0]?.path ?? '') ? 'before' : 'after';
}

t.test('U2: what only prepares stands before the CRS', async (t) => {
  const head = 'id:1000000,phase:1,pass,nolog';
  const rows: readonly [where: 'before' | 'after', seclang: string][] = [
    ['before', `SecAction "${head},setvar:'tx.allowed_methods=GET PURGE'"`],
    ['before', `SecAction "${head},setvar:tx.critical_anomaly_score=9,setvar:'!tx.restricted_extensions'"`],
    ['before', `SecAction "${head},setvar:tx.inbound_anomaly_score_threshold=20"`],
    ['before', `SecRule REQUEST_URI "@beginsWith /dav" "${head},setvar:'tx.allowed_methods=GET PROPFIND'"`],
    ['before', `SecRule REQUEST_URI "@beginsWith /x" "${head},ctl:ruleRemoveById=942100"`],
    [
      'before',
      `# why\nSecRule REMOTE_ADDR "@ipMatch 192.0.2.0/24" "${head},chain"\n` +
        'SecRule REQUEST_URI "@beginsWith /x" "setvar:tx.early_blocking=1"',
    ],
    ['after', `SecAction "${head},setvar:tx.inbound_anomaly_score_pl1=+5"`],
    ['after', `SecAction "${head},setvar:tx.inbound_anomaly_score_pl1=5"`],
    ['after', `SecAction "${head},setvar:tx.copy=%{tx.allowed_methods}"`],
    ['after', `SecRule TX:crs_setup_version "@gt 1" "${head},setvar:tx.a=1"`],
    ['after', 'SecAction "id:1000000,phase:2,pass,nolog,setvar:tx.a=1"'],
    ['after', 'SecRule ARGS "@contains x" "id:1000000,phase:1,deny,setvar:tx.a=1"'],
    ['after', `SecAction "${head},setvar:tx.a=1"\nSecRuleRemoveById 950001`],
    ['after', 'SecRule ARGS "@contains x" "id:1000000,phase:1,pass,log"'],
  ];
  for (const [where, seclang] of rows) t.equal(placeOf(seclang), where, seclang);
});
