// The artifact's bytes: what goes in comes out, equal content is equal bytes, and nothing but a whole artifact of this
// format is accepted.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { Packr } from 'msgpackr/pack';
import t from 'tap';
import {
  ArtifactRefused,
  artifactFormatVersion,
  decodeArtifact,
  decodingArtifact,
  encodeArtifact,
  hashArtifact,
} from './artifact.js';
import type { Artifact } from './artifact-sections.js';
import type { PlanIR } from './plan.js';
import { action, link, marker, operator, program as programOf, rule, setTx, target } from '../testing/program.js';

const plan: PlanIR = {
  pipelines: [[], ['lowercase']],
  atoms: [{ pipeline: 1, item: 0, link: 0 }],
  classes: [
    {
      sources: ['argGetValue'],
      union: { pipeline: 0, database: 0, byAlphabet: [0, -1] },
      groups: [],
      families: [],
      sets: [],
      called: [{ atom: 0, pipeline: 1, neededBytes: null }],
    },
  ],
  databases: [
    {
      key: 'aa',
      patterns: [{ id: 0, source: '\\xff\\x00é', caseless: true, dotAll: true, multiline: false, prefilter: false }],
      atomOf: [0],
    },
  ],
  alphabets: ['abc'],
  linkAtoms: [[[0]], null, null],
  active: [[], [0], [], [], [], []],
  certain: [],
  initialTx: [['pl', '1']],
  constantArguments: [[0, 0, '\xff']],
};

function artifactWith(text: string, blobs: readonly (readonly [string, Uint8Array])[]): Artifact {
  const program = programOf([
    rule(1, 1, [link([target('ARGS', /^x/)], operator(`rx ${text}`), { transformations: ['lowercase'] })]),
    marker('END'),
    action(2, 1, [setTx('a', [text, { variable: 'TX', key: 'b' }])]),
  ]);
  const meta = {
    compiler: '1',
    components: [text],
    matcher: 'hyperscan',
    probes: [{ name: 'p', method: 'GET', uri: '/', headers: ['a', text], body: text, expectAnyOf: [1] }],
  };
  return { meta, program, plan, blobs: new Map(blobs) };
}
const sample = encodeArtifact(
  artifactWith('some rule', [
    ['bb', Buffer.from([1, 2, 3])],
    ['aa', Buffer.alloc(300, 7)],
  ]),
);

t.test('what goes in comes out', (t) => {
  const bytes = fc.uint8Array({ maxLength: 64 });
  const latin = fc
    .array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 })
    .map((codes) => String.fromCharCode(...codes));
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  fc.assert(
    fc.property(latin, bytes, bytes, (text, one, two) => {
      const artifact = artifactWith(text, [
        ['aa', one],
        ['bb', two],
      ]);
      const decoded = decodeArtifact(encodeArtifact(artifact));
      return (
        JSON.stringify([decoded.meta, decoded.program, decoded.plan]) ===
          JSON.stringify([artifact.meta, artifact.program, artifact.plan]) &&
        Buffer.from(decoded.blobs.get('aa') as Uint8Array).equals(Buffer.from(one)) &&
        Buffer.from(decoded.blobs.get('bb') as Uint8Array).equals(Buffer.from(two))
      );
    }),
    { seed, numRuns: 200 },
  );
  t.pass(`seed ${seed}`);
  t.end();
});

t.test('equal content is equal bytes, in whatever order blobs came and whatever was packed before', (t) => {
  const one = encodeArtifact(
    artifactWith('x', [
      ['aa', Buffer.from('1')],
      ['bb', Buffer.from('2')],
    ]),
  );
  encodeArtifact(artifactWith('something else', []));
  decodeArtifact(sample);
  const two = encodeArtifact(
    artifactWith('x', [
      ['bb', Buffer.from('2')],
      ['aa', Buffer.from('1')],
    ]),
  );
  t.ok(one.equals(two));
  t.equal(hashArtifact(one), createHash('sha256').update(two).digest('hex'));
  t.ok(encodeArtifact(decodeArtifact(one)).equals(one), 'decoding and encoding changes nothing');
  t.end();
});

const plainPacker = new Packr({ useRecords: true, structuredClone: false, moreTypes: false, mapsAsObjects: true });

/** The payload in one go, the blobs too. */
function packedWhole({ meta, program, plan, blobs }: Artifact): Buffer {
  const list = [...blobs].sort(([a], [b]) => (a < b ? -1 : 1));
  const databases = plan.databases.map(({ key, atomOf }) => ({ key, atomOf }));
  const json = (content: unknown): Buffer => Buffer.from(JSON.stringify(content), 'latin1');
  return plainPacker.pack({
    meta,
    program: json(program),
    plan: json({ ...plan, databases }),
    patterns: json(plan.databases.map(({ patterns }) => patterns)),
    blobs: list,
  });
}

t.test('the bytes are those of the packer, and bytes that were verified are not verified again', (t) => {
  for (const sizes of [
    [],
    [0, 1, 255, 256],
    [65_535, 65_536],
    Array.from({ length: 15 }, () => 1),
    Array.from({ length: 16 }, () => 2),
    Array.from({ length: 70_000 }, () => 0),
  ]) {
    const blobs = sizes.map((size, index): [string, Buffer] => [
      `key ${String(index).padStart(index % 40, '0')}`,
      Buffer.alloc(size, index),
    ]);
    const artifact = artifactWith('x', blobs);
    t.ok(encodeArtifact(artifact).subarray(40).equals(packedWhole(artifact)), `${sizes.length} databases`);
  }
  const damaged = Buffer.from(sample);
  damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1; // inside the last database
  t.throws(() => decodeArtifact(damaged), { code: 'damaged' });
  t.equal(decodeArtifact(damaged, true).blobs.size, 2);
  t.end();
});

t.test('so they are with more kinds of records than the packer has numbers for', (t) => {
  for (const kinds of [20, 28, 31, 32, 33, 60, 64, 70, 200]) {
    const artifact = artifactWith('x', [['aa', Buffer.from('1')]]);
    const { length } = artifact.meta.probes;
    const probes = Array.from({ length: 3 * kinds }, (_, index) => ({
      ...artifact.meta.probes[index % length],
      [`kind ${index % kinds}`]: { [`inner ${index % 7}`]: index },
    })) as unknown as Artifact['meta']['probes'];
    const manifold = { ...artifact, meta: { ...artifact.meta, probes } };
    t.ok(encodeArtifact(manifold).subarray(40).equals(packedWhole(manifold)), `${kinds} kinds`);
  }
  t.end();
});

function codeOf(bytes: Uint8Array): string {
  try {
    decodeArtifact(bytes);
    return 'accepted';
  } catch (error) {
    if (error instanceof ArtifactRefused) return error.code;
    throw error;
  }
}

t.test('damage is refused with the right code', (t) => {
  let flips = 0;
  for (let at = 0; at < sample.length; at += 1) {
    for (const bit of [0, 3, 7]) {
      const damaged = Buffer.from(sample);
      damaged[at] = (damaged[at] as number) ^ (1 << bit);
      const expected = at < 7 ? 'not-an-artifact' : at === 7 ? 'format-version' : 'damaged';
      flips += 1;
      if (codeOf(damaged) !== expected) t.fail(`bit ${bit} of byte ${at}: ${codeOf(damaged)}, not ${expected}`);
    }
  }
  t.ok(flips > 1000, `${flips} single-bit flips`);
  for (let length = 0; length < sample.length; length += 1)
    if (codeOf(sample.subarray(0, length)) !== (length < 40 ? 'not-an-artifact' : 'damaged'))
      t.fail(`cut at ${length}: ${codeOf(sample.subarray(0, length))}`);
  t.equal(codeOf(Buffer.concat([sample, Buffer.from([0])])), 'damaged', 'a byte too many');
  t.equal(codeOf(sample), 'accepted', 'the sample itself is whole');
  t.end();
});

function signed(payload: Buffer, version = artifactFormatVersion): Buffer {
  return Buffer.concat([
    Buffer.from('GATEHSE', 'latin1'),
    Buffer.from([version]),
    createHash('sha256').update(payload).digest(),
    payload,
  ]);
}

t.test('foreign files and versions are refused', (t) => {
  const rows: readonly [string, Buffer, string][] = [
    ['an older format', signed(sample.subarray(40), artifactFormatVersion - 2), 'format-version'],
    [
      'what calls itself of the format before and is not',
      signed(sample.subarray(40), artifactFormatVersion - 1),
      'content',
    ],
    ['a newer format', signed(sample.subarray(40), artifactFormatVersion + 1), 'format-version'],
    ['a well-signed payload that is nothing', signed(Buffer.alloc(0)), 'content'],
    ['a well-signed number', signed(Buffer.from([7])), 'content'],
    ['a well-signed null', signed(Buffer.from([0xc0])), 'content'],
    ['a well-signed text that ends too soon', signed(Buffer.from([0xdb, 0, 0, 1, 0])), 'content'],
    [
      'a program of another version',
      encodeArtifact({
        ...artifactWith('x', []),
        program: { ...artifactWith('x', []).program, version: 2 as unknown as 1 },
      }),
      'content',
    ],
    ['no file at all', Buffer.alloc(0), 'not-an-artifact'],
    ['text', Buffer.from('SecRuleEngine On\n'.repeat(10)), 'not-an-artifact'],
  ];
  for (const [name, bytes, expected] of rows) t.equal(codeOf(bytes), expected, name);
  t.end();
});

t.test('the format before is read: what served before an update goes on', (t) => {
  const artifact = artifactWith('some rule', [['aa', Buffer.alloc(300, 7)]]);
  const { meta, program, blobs } = artifact;
  const former = signed(plainPacker.pack({ meta, program, plan, blobs: [...blobs] }), artifactFormatVersion - 1);
  const read = decodeArtifact(former);
  t.strictSame(
    { meta: read.meta, program: read.program, plan: read.plan, blobs: [...read.blobs] },
    { meta, program, plan, blobs: [...blobs] },
  );
  t.ok(encodeArtifact(read).equals(encodeArtifact(artifact)), 'and is the same as what is written today');
  for (const without of ['program', 'plan', 'blobs'])
    t.equal(
      codeOf(signed(plainPacker.pack({ meta, program, plan, blobs: [...blobs], [without]: null }), 3)),
      'content',
      `without ${without}`,
    );
  const damaged = Buffer.from(former);
  damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1;
  t.equal(codeOf(damaged), 'damaged');
  t.end();
});

t.test('R13: who decodes may pause on the way through the checksum, a megabyte at a time', (t) => {
  const megabytes = 5;
  const large = encodeArtifact(artifactWith('x', [['aa', Buffer.alloc(megabytes * 1024 * 1024, 7)]]));
  const stepsOf = (bytes: Uint8Array, isVerified: boolean): number => {
    const decoding = decodingArtifact(bytes, isVerified);
    let steps = 0;
    while (decoding.next().done !== true) steps += 1;
    return steps;
  };
  t.ok(stepsOf(large, false) >= megabytes, 'requests wait for a megabyte, not for all of it');
  t.equal(stepsOf(large, true), 0, 'nothing is summed where the bytes are known');
  t.same(decodeArtifact(large).blobs.get('aa')?.length, megabytes * 1024 * 1024);
  for (const at of [50, 1_500_000, large.length - 1]) {
    const damaged = Buffer.from(large);
    damaged[at] = (damaged[at] as number) ^ 1;
    t.equal(codeOf(damaged), 'damaged', `a bit at ${at} is seen as before`);
  }
  t.end();
});
