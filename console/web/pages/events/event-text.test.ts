import t from 'tap';
import { asCurl, highlight, matchedData, messageOfRule, partsOfMatch, pointsOf, severityName } from './event-text.js';

t.test('the text of a match is taken apart', async (t) => {
  t.same(partsOfMatch("Matched \"Operator `rx'\" against variable `ARGS:q' (Value: `a'b`c')"), {
    operator: 'rx',
    variable: 'ARGS:q',
    value: "a'b`c",
  });
  t.equal(partsOfMatch('something else'), null);
  t.equal(matchedData('Matched Data: UNION SELECT found within ARGS:q: 1 UNION SELECT 2'), 'UNION SELECT');
  t.equal(matchedData(''), null);
});

t.test('X4: a rule is told with what it said', async (t) => {
  const said = (id: number, message: string) => ({
    ...{ rule_id: id, message, data: '', match: '', severity: '', tags: [], file: '', line: 0 },
  });
  const details = { messages: [said(7, ''), said(7, 'SQL injection'), said(8, 'another')] };
  t.equal(messageOfRule(7, details), 'SQL injection');
  t.equal(messageOfRule(9, details), '', 'of another rule nothing is taken');
  t.equal(messageOfRule(null, details), '');
  t.equal(messageOfRule(7, {}), '', 'an event of a time without messages');
});

t.test('what matched is marked in the value', async (t) => {
  t.same(highlight('1 UNION SELECT', 'union'), [
    { text: '1 ', isHit: false },
    { text: 'UNION', isHit: true },
    { text: ' SELECT', isHit: false },
  ]);
  t.same(highlight('abc', null), [{ text: 'abc', isHit: false }]);
  t.same(highlight('abc', 'zz'), [{ text: 'abc', isHit: false }]);
});

t.test('severities, points and the command', async (t) => {
  t.equal(severityName('2'), 'critical');
  t.equal(pointsOf('4'), 3);
  t.equal(
    asCurl(
      {
        method: 'GET',
        uri: "/?q='x",
        headers: [['Host', 'shop.example'], ['content-length', '3'], ['cookie'], ['X-A', "it's"]],
      },
      'http://h:1',
    ),
    `curl -i -X 'GET' -H 'Host: shop.example' -H 'X-A: it'\\''s' --path-as-is 'http://h:1/?q='\\''x'`,
  );
});
