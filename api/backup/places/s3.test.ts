// Backups in a bucket, against a store that verifies every signature.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startS3 } from '../../testing/servers/s3.js';
import { makeDirectory } from '../../testing/temporary.js';
import { nameAt, openDirectory, prune, type Place } from './place.js';
import { openS3, parseS3Url } from './s3.js';

const at = (day: number): string => nameAt(new Date(Date.UTC(2026, 0, day)), true);

/** What every place does. */
async function suite(t: Test, place: Place, directory: string): Promise<void> {
  const made = async (day: number, bytes: Buffer): Promise<void> => {
    const file = join(directory, `made-${day}`);
    await writeFile(file, bytes);
    await place.put(file, at(day));
  };
  for (const day of [3, 1, 2, 5, 4]) await made(day, Buffer.from(`of day ${day}`));
  await t.rejects(made(3, Buffer.from('another')), { name: 'BackupError', message: /is there already/ });
  t.same(
    (await place.list()).map(({ name }) => name),
    [1, 2, 3, 4, 5].map(at),
    'oldest first, over all pages',
  );
  t.equal((await place.list())[0]?.bytes, 8);
  const copy = join(directory, 'copy');
  await place.get(at(3), copy);
  t.equal(await readFile(copy, 'utf8'), 'of day 3', 'nothing was replaced');
  await t.rejects(place.get(at(9), join(directory, 'none')), { name: 'BackupError', message: /there is no such/ });
  t.same(await prune(place, 2), [1, 2, 3].map(at));
  t.same(
    (await place.list()).map(({ name }) => name),
    [4, 5].map(at),
  );
  t.same(await prune(place, 5), [], 'nothing more');
}

t.test('a directory that cannot be used says which, why and what to do', async (t) => {
  const directory = await makeDirectory(t, 'place');
  const made = join(directory, 'made');
  const plain = join(directory, 'plain');
  await writeFile(made, 'a backup');
  await writeFile(plain, 'no directory');
  for (const named of [plain, join(plain, 'below')]) {
    const wanted = {
      name: 'BackupError',
      message: /cannot be used for backups \(E[A-Z]+: .*\)\. Check .* BACKUP_TO\.$/,
    };
    await t.rejects(openDirectory(named).put(made, at(1)), wanted, named);
    await t.rejects(openDirectory(named).put(made, at(1)), { message: new RegExp(named) }, named);
  }
  t.equal(await readFile(made, 'utf8'), 'a backup', 'it is not lost');
});

t.test('a directory', async (t) => {
  const directory = await makeDirectory(t, 'place');
  const kept = join(directory, 'of somebody else.tar');
  await writeFile(kept, 'x');
  await suite(t, openDirectory(directory), directory);
  t.equal(await readFile(kept, 'utf8'), 'x', 'files of others stay');
});

t.test('a bucket', async (t) => {
  const store = await startS3(t);
  const directory = await makeDirectory(t, 'bucket');
  const options = {
    ...store,
    endpoint: `${store.url}/`,
    url: 's3://copies/of a=b'.replace(' ', '-'),
    region: 'eu-test-1',
  };
  const place = openS3(options);
  store.objects.set('copies/of-a=b/gatehouse-other.tar', Buffer.from('x'));
  await suite(t, place, directory);
  t.ok(store.objects.has('copies/of-a=b/gatehouse-other.tar'), 'objects of others stay');

  await t.test('in parts', async (t) => {
    const parts = openS3({ ...options, partBytes: 1000 });
    const bytes = Buffer.from(Array.from({ length: 2501 }, (_, i) => i % 251));
    const file = join(directory, 'large');
    await writeFile(file, bytes);
    await parts.put(file, at(10));
    t.ok(store.objects.get(`copies/of-a=b/${at(10)}`)?.equals(bytes), 'every byte in its place');
    t.equal(store.asked.filter((line) => line.includes('partNumber')).length, 3);
    const before = store.asked.length;
    store.failures.push(200, 500, 503);
    store.failures.shift();
    await parts.put(file, at(11));
    t.ok(store.asked.length - before > 6, 'a busy store is asked again');
    t.equal(store.uploads.size, 0);
    const impatient = openS3({ ...options, partBytes: 1000, retries: 0 });
    const asked = impatient.put(file, at(12));
    while (!store.asked.some((line) => line.includes(`${at(12)}?uploads`))) await new Promise(setImmediate);
    store.failures.push(503);
    await t.rejects(asked, { name: 'BackupError', message: /503 \(SlowDown/ });
    t.equal(store.uploads.size, 0, 'no piece is left');
    t.notOk(store.objects.has(`copies/of-a=b/${at(12)}`));
  });

  await t.test('a download that breaks off', async (t) => {
    store.objects.set(`copies/of-a=b/${at(20)}`, Buffer.from('content'));
    const fetched = join(directory, 'fetched');
    store.cuts = 2;
    await place.get(at(20), fetched);
    t.equal(await readFile(fetched, 'utf8'), 'content', 'is begun again');
    store.cuts = 9;
    const message = /^fetching of-a=b\/gatehouse-.* failed: the store broke it off \(.+\)\. Run it again\.$/;
    const refused = openS3({ ...options, retries: 0 }).get(at(20), join(directory, 'again'));
    await t.rejects(refused, { name: 'BackupError', message });
    store.cuts = 0;
    await t.rejects(place.get(at(20), fetched), { code: 'EEXIST' }, 'a file of this host is not replaced');
  });

  const wrong: [object, RegExp][] = [
    [{ secretAccessKey: 'wrong' }, /SignatureDoesNotMatch.*Fix: BACKUP_S3_SECRET_ACCESS_KEY/],
    [{ accessKeyId: 'wrong' }, /InvalidAccessKeyId.*Fix: BACKUP_S3_ACCESS_KEY_ID/],
    [{ region: 'us-east-1' }, /AuthorizationHeaderMalformed.*BACKUP_S3_REGION/],
    [{ url: 's3://elsewhere' }, /NoSuchBucket.*make the bucket/],
    [{ endpoint: 'http://127.0.0.1:1' }, /does not answer .*BACKUP_S3_ENDPOINT/],
  ];
  for (const [change, message] of wrong)
    await t.rejects(openS3({ ...options, retries: 0, ...change }).list(), { name: 'BackupError', message });
});

t.test('addresses of buckets', async (t) => {
  t.same(parseS3Url('s3://copies'), { bucket: 'copies', prefix: '' });
  t.same(parseS3Url('s3://copies/a/b/'), { bucket: 'copies', prefix: 'a/b/' });
  for (const text of [
    's3://',
    's3://A',
    's3://a',
    's3://ok/../x',
    's3://ok/a b',
    's3://ok/a?b',
    's3:/ok',
    'https://ok',
  ])
    t.throws(() => parseS3Url(text), { name: 'BackupError' }, text);
});
