import t from 'tap';
import { BodyCollector } from './body-collector.js';

t.test('bodies are collected up to the limit', async (t) => {
  const collector = new BodyCollector(5);
  const borrowed = Buffer.from('abc');
  t.equal(collector.add(borrowed), 3);
  borrowed.fill(0x21);
  t.equal(collector.add(Buffer.from('defg')), 2);
  t.equal(collector.take()?.toString(), 'abcde');
  t.equal(new BodyCollector(5).take(), null);
  const bytewise = new BodyCollector(100_000);
  let heldMax = 0;
  for (let index = 0; index < 70_000; index += 1) {
    bytewise.add(Buffer.from([index & 255]));
    heldMax = Math.max(heldMax, bytewise.heldBytes - 2 * bytewise.bytes);
  }
  t.ok(heldMax <= 0, 'never more than twice what came');
  const whole = bytewise.take();
  t.equal(whole?.length, 70_000);
  t.ok(
    whole?.every((byte, index) => byte === (index & 255)),
    'single bytes make the same body',
  );
});
