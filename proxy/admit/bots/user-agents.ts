// What a User-Agent says of its sender, from words that programs put there themselves. Everybody can write anything in
// it: what it claims to be good for is never believed (crawlers.ts), what it admits is.

export type AgentClass =
  | 'empty'
  | 'scanner'
  | 'health-check'
  | 'mobile-app'
  | 'headless'
  | 'automation'
  | 'crawler'
  | 'browser'
  | 'other';

/** In this order: the first class with a word in the text. Words are compared in small letters. */
const words: readonly (readonly [AgentClass, readonly string[]])[] = [
  [
    'scanner',
    [
      ...[
        'sqlmap',
        'nikto',
        'nmap',
        'masscan',
        'zgrab',
        'nuclei',
        'acunetix',
        'nessus',
        'openvas',
        'wpscan',
        'joomscan',
      ],
      ...[
        'dirbuster',
        'gobuster',
        'feroxbuster',
        'ffuf',
        'fuzz faster u fool',
        'wfuzz',
        '(hydra)',
        'havij',
        'arachni',
        'w3af',
        'netsparker',
      ],
      ...[
        'burpsuite',
        'zaproxy',
        'whatweb',
        'commix',
        'xsser',
        'dalfox',
        'jaeles',
        'skipfish',
        'sqlninja',
        'metasploit',
      ],
    ],
  ],
  [
    'health-check',
    [
      ...['kube-probe', 'elb-healthchecker', 'googlehc', 'haproxy', 'route53-health-check', 'uptimerobot', 'pingdom'],
      ...['statuscake', 'site24x7', 'prometheus', 'blackbox', 'datadog', 'newrelicpinger', 'consul', 'healthcheck'],
      ...['health-check', 'health probe', 'better uptime', 'checkly', 'zabbix', 'nagios', 'check_http', 'monit/'],
      ...[
        'uptime-kuma',
        'traefik',
        'envoy/hc',
        'alwayson',
        'gatus',
        'cloudflare-traffic-manager',
        'fastly-healthcheck',
      ],
    ],
  ],
  [
    'mobile-app',
    [
      ...['okhttp', 'cfnetwork', 'dalvik/', 'alamofire', 'dart:io', 'dart/', 'ktor-client', 'volley', 'afnetworking'],
      ...['react-native', 'expo/', 'nsurlsession', 'cronet', 'unityplayer', 'flutter'],
    ],
  ],
  [
    'headless',
    ['headlesschrome', 'phantomjs', 'slimerjs', 'puppeteer', 'playwright', 'selenium', 'webdriver', 'cypress'],
  ],
  [
    'automation',
    [
      ...[
        'curl/',
        'libcurl',
        'wget',
        'python-requests',
        'python-urllib',
        'python/',
        'aiohttp',
        'python-httpx',
        'scrapy',
      ],
      ...[
        'go-http-client',
        'java/',
        'java-http-client',
        'apache-httpclient',
        'apache-httpasyncclient',
        'jersey/',
        'unirest',
      ],
      ...[
        'libwww-perl',
        'lwp::',
        'lwp-',
        'mechanize',
        'node-fetch',
        'axios',
        'undici',
        'got (',
        'superagent',
        'node.js',
      ],
      ...['guzzlehttp', 'symfony httpclient', 'php/', 'ruby', 'faraday', 'rest-client', 'http.rb', 'restsharp'],
      ...['postmanruntime', 'insomnia', 'httpie', 'powershell', 'winhttp', 'reqwest', 'hyper/', 'deno/', 'bun/', 'k6/'],
      ...['apachebench', 'hey/', 'vegeta', 'wrk', 'jmeter', 'aws-sdk', 'boto', 'grpc-'],
    ],
  ],
  ['crawler', ['crawler', 'spider', 'crawl', 'slurp', 'archiver', 'scraper', 'externalhit', 'fetcher']],
];

/** `bot` at the end of a word, and not the telephones of that name. */
function isCalledBot(text: string): boolean {
  for (let at = text.indexOf('bot'); at >= 0; at = text.indexOf('bot', at + 3)) {
    const next = text.charCodeAt(at + 3);
    const endsWord = !(next >= 0x61 && next <= 0x7a);
    if (endsWord && text.slice(Math.max(0, at - 2), at) !== 'cu') return true;
  }
  return false;
}

/** Of a User-Agent as it was sent; '' and blanks are `empty`. */
export function classifyAgent(userAgent: string): AgentClass {
  const text = userAgent.trim().toLowerCase();
  if (text === '') return 'empty';
  for (const [name, list] of words) if (list.some((word) => text.includes(word))) return name;
  if (isCalledBot(text)) return 'crawler';
  return text.startsWith('mozilla/') ? 'browser' : 'other';
}
