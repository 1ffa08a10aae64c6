// PHP frameworks: ThinkPHP, Laravel.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const phpFrameworkPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007207,
    cve: 'CVE-2018-20062',
    title: 'ThinkPHP calls any method',
    product: 'ThinkPHP, NoneCms',
    affected: '5.0 before 5.0.23, 5.1 before 5.1.31',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'ARGS_GET|REQUEST_FILENAME',
        r`@rx (?:^|[/\x5c])think\x5c+(?:app|request|container|view|template|process|config|lang|module|controller)`,
        'urlDecodeUni,lowercase',
      ],
    ],
    attack: [
      [
        'invokefunction',
        'GET /index.php?s=/index/%5Cthink%5Capp/invokefunction&function=call_user_func_array&' +
          'vars%5B0%5D=phpinfo&vars%5B1%5D%5B%5D=1',
      ],
    ],
    benign: [
      ['a route', 'GET /index.php?s=/index/user/list'],
      ['the word', 'GET /index.php?q=think/app/design'],
    ],
  }),
  definePatch({
    id: 1007208,
    cve: 'CVE-2021-3129',
    title: 'Laravel Ignition runs solutions',
    product: 'Laravel Ignition',
    affected: 'before 2.5.2',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /_ignition/execute-solution', asPath]],
    attack: [
      [
        'log file through a filter',
        'POST /_ignition/execute-solution',
        json,
        '{"solution":"Facade\\\\Ignition\\\\Solutions\\\\MakeViewVariableOptionalSolution","parameters":' +
          '{"variableName":"x","viewFile":"phar://../storage/logs/laravel.log"}}',
      ],
    ],
    benign: [
      ['health check', 'GET /_ignition/health-check'],
      ['in a search', 'GET /docs?q=/_ignition/execute-solution'],
    ],
  }),
];
