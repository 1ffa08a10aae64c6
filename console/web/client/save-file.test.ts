import t from 'tap';
import { fileName } from './save-file.js';

t.test('X2: a file is called what no file system minds', async (t) => {
  t.equal(fileName('shop-default-3-reality.json'), 'shop-default-3-reality.json');
  t.equal(fileName('../../etc/passwd'), 'etc-passwd');
  t.equal(fileName('my shop\u202e.json'), 'my-shop-.json');
  t.equal(fileName('…'), 'file');
});
