import fc from 'fast-check';
import t from 'tap';
import { createInterpreter } from '../evaluate/interpreter.js';
import type { ControlIR, EngineSettings } from '../program/ir.js';
import { variables } from '../variables/index.js';
import { action, exchange, type Exchange, link, operator, program, rule, target } from '../testing/program.js';
import { valuesSeen as values } from '../testing/seen-values.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const form = ['Content-Type', 'application/x-www-form-urlencoded; charset=utf-8'];
const json = { kind: 'requestBodyProcessor', value: 'JSON' } as const;

t.test('the body processor follows the media type or ctl', (t) => {
  const cases: readonly {
    readonly what: string;
    readonly request: Exchange;
    readonly controls?: readonly ControlIR[];
    readonly settings?: Partial<EngineSettings>;
    readonly expected: readonly string[];
  }[] = [
    {
      what: 'form',
      request: { headers: form, body: 'a=1&b=%41' },
      expected: ['args:a=1', 'args:b=A', 'reqbody_processor=URLENCODED', 'reqbody_error=0'],
    },
    {
      what: 'media types ignore case',
      request: { headers: ['content-TYPE', 'Application/X-WWW-Form-urlencoded'], body: 'a=1' },
      expected: ['args:a=1', 'reqbody_processor=URLENCODED', 'reqbody_error=0'],
    },
    {
      what: 'multipart',
      request: {
        headers: ['Content-Type', 'multipart/form-data; boundary=x'],
        body: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
      },
      expected: ['args:a=1', 'reqbody_processor=MULTIPART', 'reqbody_error=0'],
    },
    {
      what: 'a CSP report is JSON',
      request: { headers: ['Content-Type', 'application/csp-report'], body: '{"a":"\\u0041"}' },
      expected: ['args:json.a=A', 'reqbody_processor=JSON', 'reqbody_error=0'],
    },
    {
      what: 'NDJSON',
      request: { headers: ['Content-Type', 'Application/x-ndjson'], body: '{"a":1}\n{"b":2}\n' },
      expected: ['args:json.a=1', 'args:json.b=2', 'reqbody_processor=JSON', 'reqbody_error=0'],
    },
    {
      what: 'a GraphQL document',
      request: { headers: ['Content-Type', 'application/graphql; charset=utf-8'], body: '{u(id:1){v}}' },
      expected: ['args:graphql={u(id:1){v}}', 'reqbody_processor=GRAPHQL', 'reqbody_error=0'],
    },
    {
      what: 'JSON without ctl is read, and that it is broken is no error',
      request: { headers: ['Content-Type', 'application/json'], body: '{"a":1,' },
      expected: ['args:json.a=1', 'reqbody_processor=', 'reqbody_error=0'],
    },
    {
      what: 'A9: JSON that is sent as a form is both',
      request: { headers: form, body: '{"user":"admin\\u0027 OR 1"}' },
      expected: [
        'args:{"user":"admin\\u0027 or 1"}=',
        "args:json.user=admin' OR 1",
        'reqbody_processor=URLENCODED',
        'reqbody_error=0',
      ],
    },
    {
      what: 'A9: without a type, behind a byte order mark and white space, one document after another',
      request: { headers: [], body: '\xef\xbb\xbf \r\n[{"a":"1"}]\n{"b":"2"}' },
      expected: ['args:json.0.a=1', 'args:json.b=2', 'reqbody_processor=', 'reqbody_error=0'],
    },
    {
      what: 'A9: as text, which pages may send anywhere',
      request: { headers: ['Content-Type', 'text/plain;charset=UTF-8'], body: '{"a":{"b":"1"}}' },
      expected: ['args:json.a.b=1', 'reqbody_processor=', 'reqbody_error=0'],
    },
    {
      what: 'A9: a form that only looks like it stays a form',
      request: { headers: form, body: '[]=1&{x}=2' },
      expected: ['args:[]=1', 'args:{x}=2', 'reqbody_processor=URLENCODED', 'reqbody_error=0'],
    },
    {
      what: 'A9: what is too deep to be read is an error there, too',
      request: { headers: form, body: '['.repeat(9) },
      settings: { requestBodyJsonDepthMax: 8 },
      expected: [`args:${'['.repeat(9)}=`, 'reqbody_processor=URLENCODED', 'reqbody_error=1'],
    },
    {
      what: 'JSON',
      request: { headers: ['Content-Type', 'application/json'], body: '{"a":1}' },
      controls: [json],
      expected: ['args:json.a=1', 'reqbody_processor=JSON', 'reqbody_error=0'],
    },
    {
      what: 'damaged JSON',
      request: { body: '{"a":' },
      controls: [json],
      expected: ['reqbody_processor=JSON', 'reqbody_error=1'],
    },
    {
      what: 'a processor nobody has',
      request: { body: 'x' },
      controls: [{ kind: 'requestBodyProcessor', value: 'YAML' }],
      expected: ['reqbody_processor=YAML', 'reqbody_error=1'],
    },
    {
      what: 'access off',
      request: { headers: form, body: 'a=1' },
      settings: { requestBodyAccess: false },
      expected: ['reqbody_processor=URLENCODED', 'reqbody_error=0'],
    },
    {
      what: 'access switched on by a rule',
      request: { headers: form, body: 'a=1' },
      settings: { requestBodyAccess: false },
      controls: [{ kind: 'requestBodyAccess', value: true }],
      expected: ['args:a=1', 'reqbody_processor=URLENCODED', 'reqbody_error=0'],
    },
    { what: 'no body', request: { headers: form }, expected: ['reqbody_processor=URLENCODED', 'reqbody_error=0'] },
  ];
  for (const { what, request, controls, settings, expected } of cases)
    t.same(values(['ARGS', 'REQBODY_PROCESSOR', 'REQBODY_ERROR'], request, controls, settings).seen, expected, what);
  t.end();
});

t.test('several Cookie headers are one list', (t) => {
  t.same(values(['REQUEST_COOKIES'], { headers: ['Cookie', 'a="u', 'Host', 'x', 'cookie', 'b=\\047"'] }).seen, [
    "request_cookies:a=u; b='",
    'request_cookies:b=\\047"',
  ]);
  t.end();
});

t.test('request limits', (t) => {
  const body = 'a=1&b=2&c=3';
  const reject = values(['ARGS'], { headers: form, body }, [], { requestBodyLimitBytes: 5 });
  t.match(
    reject.result.verdict,
    { kind: 'block', truncated: true, interruption: { status: 403, ruleId: 0, phase: 2 }, phases: [1, 5] },
    'Reject',
  );
  const detection = values(['ARGS', 'INBOUND_DATA_ERROR'], { headers: form, body }, [], {
    requestBodyLimitBytes: 5,
    ruleEngine: 'DetectionOnly',
  });
  t.same(detection.seen, ['args:a=1', 'args:b=', 'inbound_data_error=1'], 'DetectionOnly inspects what fits');
  const partial = values(['ARGS', 'INBOUND_DATA_ERROR'], { headers: form, body }, [], {
    requestBodyLimitBytes: 7,
    requestBodyLimitAction: 'ProcessPartial',
  });
  t.same(partial.seen, ['args:a=1', 'args:b=2', 'inbound_data_error=1'], 'ProcessPartial');
  t.equal(partial.result.verdict.truncated, true);
  const raised = values(['ARGS'], { headers: form, body }, [{ kind: 'requestBodyLimit', value: 100 }], {
    requestBodyLimitBytes: 5,
  });
  t.same(raised.seen, ['args:a=1', 'args:b=2', 'args:c=3'], 'ctl:requestBodyLimit');
  const noFiles = values(['REQBODY_ERROR', 'ARGS'], { headers: form, body }, [], { requestBodyNoFilesLimitBytes: 5 });
  t.same(noFiles.seen, ['reqbody_error=1'], 'SecRequestBodyNoFilesLimit');
  const many = values(['ARGS'], { uri: '/?x=0&y=0', headers: form, body }, [], { argumentsMax: 3 });
  t.same(
    [many.seen, many.result.verdict.truncated],
    [['args:x=0', 'args:y=0', 'args:a=1'], true],
    'the query string counts towards SecArgumentsLimit',
  );
  t.end();
});

t.test('response bodies', (t) => {
  const settings = { responseBodyAccess: true };
  const html = { headers: ['Content-Type', 'text/HTML; charset=utf-8'], body: 'page' };
  const names = ['RESPONSE_BODY', 'RESPONSE_CONTENT_TYPE'];
  t.same(
    values(names, { response: html }, [], settings, 4).seen,
    ['response_body=page', 'response_content_type=text/HTML'],
    'a listed type',
  );
  t.same(
    values(names, { response: { ...html, headers: ['Content-Type', 'image/png'] } }, [], settings, 4).seen,
    ['response_body=', 'response_content_type=image/png'],
    'another type',
  );
  t.same(
    values(names, { response: html }, [], {}, 4).seen,
    ['response_body=', 'response_content_type=text/HTML'],
    'access off',
  );
  t.same(
    values(
      ['RESPONSE_BODY', 'OUTBOUND_DATA_ERROR'],
      { response: html },
      [],
      { ...settings, responseBodyLimitBytes: 2 },
      4,
    ).seen,
    ['response_body=pa', 'outbound_data_error=1'],
    'ProcessPartial',
  );
  t.match(
    values(
      names,
      { response: html },
      [],
      { ...settings, responseBodyLimitBytes: 2, responseBodyLimitAction: 'Reject' },
      4,
    ).result.verdict,
    { kind: 'block', phases: [1, 2, 3, 5] },
    'Reject',
  );
  t.end();
});

t.test('STATUS of a blocked request is what the client got', (t) => {
  const items = [
    action(1, 1, [], { disruptive: { kind: 'deny', status: 451 } }),
    rule(2, 5, [link([target('RESPONSE_STATUS')], operator('eq 451'))]),
  ];
  t.same(exchange(createInterpreter(program(items))).matched, [1, 2]);
  t.end();
});

t.test('no request makes the engine throw', (t) => {
  const inspector = createInterpreter(
    program(
      [...variables.keys()].map((name, index) => {
        const { phase } = variables.get(name) as { phase: 1 | 2 | 3 | 4 | 5 };
        return rule(100 + index, phase, [
          link(
            [target(name), target(name, null, true), target(name, 'x'), target('XML', '/*')],
            operator('rx [\\x80-\\xff]|a'),
            {
              capture: true,
              multiMatch: true,
              transformations: ['urlDecodeUni', 'htmlEntityDecode', 'normalizePath'],
              logdata: [
                { variable: name, key: null },
                { variable: name, key: 'x' },
              ],
            },
          ),
        ]);
      }),
      {
        responseBodyAccess: true,
        responseBodyMimeTypes: [],
        requestBodyLimitBytes: 200,
        requestBodyLimitAction: 'ProcessPartial',
      },
    ),
  );
  const bytes = fc
    .array(fc.integer({ min: 0, max: 255 }), { maxLength: 60 })
    .map((codes) => String.fromCharCode(...codes));
  const pieces = fc
    .array(
      fc.oneof(
        bytes,
        fc.constantFrom(
          '&',
          '=',
          '%',
          '+',
          '--x\r\n',
          'Content-Disposition: form-data; name=a\r\n\r\n',
          '{"a":',
          '[',
          '<a b="c">',
          '&#x',
        ),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''));
  const types = fc.constantFrom(
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json',
    'text/xml',
    '',
  );
  let runs = 0;
  fc.assert(
    fc.property(pieces, pieces, pieces, types, bytes, (uri, body, page, type, value) => {
      runs += 1;
      const { verdict } = exchange(inspector, {
        uri,
        body,
        headers: ['Content-Type', type, 'Cookie', value, value, uri, 'Authorization', `Basic ${value}`, 'Host', value],
        response: { headers: ['Content-Type', value], body: page },
      });
      return verdict.kind === 'pass' && verdict.phases.length === 5;
    }),
    { numRuns: 300 },
  );
  t.equal(runs, 300);
  t.end();
});
