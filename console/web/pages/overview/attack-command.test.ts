import t from 'tap';
import { attackCommand } from './attack-command.js';

t.test('X4: the first attack goes to the port that protects, and to a site that is there', async (t) => {
  const query = "/search?q=1'%20OR%20'1'='1";
  t.equal(attackCommand('127.0.0.1', 9000, []), `curl -i "http://127.0.0.1:9000${query}"`, 'the bundled demo');
  t.equal(attackCommand('[::1]', 8080, []), `curl -i "http://[::1]:8080${query}"`);
  const site = { host: null, prefix: '/', protected: true };
  const off = { host: 'off.example', prefix: '/off', protected: false };
  t.equal(attackCommand('h', 1, [off, site]), `curl -i "http://h:1${query}"`, 'not one that is not protected');
  t.equal(attackCommand('h', 1, [{ ...site, prefix: '/shop/' }]), `curl -i "http://h:1/shop${query}"`);
  t.equal(
    attackCommand('h', 1, [{ ...site, host: 'shop.example' }]),
    `curl -i -H "Host: shop.example" "http://h:1${query}"`,
  );
  t.match(attackCommand('h', 1, [{ ...site, host: '*.shop.example' }]), /Host: www\.shop\.example"/, 'one of them');
  t.equal(
    attackCommand('h', 1, [{ host: 'a";id;"', prefix: '/$(id)`id`!x', protected: true }]),
    `curl -i -H "Host: aid" "http://h:1/%24(id)%60id%60%21x${query}"`,
    'nothing of it is read by the shell',
  );
});
