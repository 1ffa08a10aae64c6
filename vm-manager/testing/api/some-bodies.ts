// Bodies of an organisation that is filled, as the API takes them.

export const runtimeEvent = {
  sensor_id: 's',
  attack_type: 'ssrf',
  confirmed: true,
  method: 'GET',
  route: '/preview',
  at: '2026-02-28T10:00:00Z',
};

export const tracker = {
  type: 'github',
  config: { url: 'https://api.github.example', repository: 'team/shop' },
  secret: 'token-of-a-tracker-1',
};

export const hook = { name: 'h', provider: 'github', repository: 'team/shop', secret: 'a-secret-of-the-test-1' };

export const gateBody = {
  name: 'g',
  mode: 'warn',
  selector: null,
  conditions: [{ metric: 'new_critical', op: 'lte', threshold: 0 }],
};

export const channel = {
  type: 'webhook',
  config: { url: 'https://hook.example' },
  secret: 'a-key-that-is-long-enough-1',
};

export const mailChannel = {
  type: 'email',
  config: {
    ...{ host: 'mail.example', port: 587, security: 'starttls', from: 'gate@mail.example' },
    ...{ to: ['team@mail.example'], report_recipients: ['board@mail.example'] },
  },
};

export const everyNight = { name: 'n', cron: '0 3 * * *' };

export const anyScan = {
  scope_paths: [],
  excluded_paths: [],
  scan_methods: ['GET'],
  scan_windows: [],
  waf_url: null,
  callback_url: null,
  exploit_writes: false,
};
