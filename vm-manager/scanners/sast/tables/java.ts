// Java: Servlet, Spring, JAX-RS, JDBC, JPA, the class library.
import { all, sqlText, type Table, words } from './table.js';

const request = 'HttpServletRequest';

export const java: Table = {
  sources: {
    [`${request}.getParameter ${request}.getParameterValues ${request}.getParameterMap ${request}.getParameterNames`]:
      'request parameter',
    [`${request}.getHeader ${request}.getHeaders ${request}.getHeaderNames`]: 'request header',
    [`${request}.getCookies`]: 'cookie of the request',
    [`${request}.getQueryString`]: 'query of the request',
    [`${request}.getReader ${request}.getInputStream ${request}.getPart ${request}.getParts`]: 'body of the request',
    [`${request}.getPathInfo ${request}.getRequestURI ${request}.getRequestURL ${request}.getServletPath`]:
      'path of the request',
    'ServletRequest.getParameter WebRequest.getParameter NativeWebRequest.getParameter': 'request parameter',
    'MultipartFile.getOriginalFilename Part.getSubmittedFileName FileItem.getName': 'name of an uploaded file',
    'ServerHttpRequest.getQueryParams UriInfo.getQueryParameters UriInfo.getPathParameters': 'request parameter',
    'Cookie.getValue': 'cookie of the request',
  },
  requests: /^(?:HttpServletRequest|ServletRequest|HttpServletRequestWrapper)$/,
  wraps: 'request parameter',
  marks: words(
    'RequestParam PathVariable RequestBody RequestHeader CookieValue MatrixVariable ' +
      'ModelAttribute QueryParam PathParam FormParam HeaderParam CookieParam MatrixParam ' +
      'FormDataParam BeanParam RequestPart',
  ),
  types: {
    'HttpServletResponse.getWriter HttpServletResponse.getOutputStream ServletResponse.getWriter': '^ServletWriter',
    'HttpServletRequest.getSession': 'HttpSession',
    'Runtime.getRuntime': 'Runtime',
    'Connection.createStatement': 'Statement',
    'Connection.prepareStatement': 'PreparedStatement',
    'Connection.prepareCall': 'CallableStatement',
    'DriverManager.getConnection DataSource.getConnection': 'Connection',
    'XPathFactory.newXPath': 'XPath',
    'DocumentBuilderFactory.newInstance': 'DocumentBuilderFactory',
    'DocumentBuilderFactory.newDocumentBuilder': 'DocumentBuilder',
    'SAXParserFactory.newInstance': 'SAXParserFactory',
    'SAXParserFactory.newSAXParser': 'SAXParser',
    'XMLInputFactory.newInstance XMLInputFactory.newFactory': 'XMLInputFactory',
    'Logger.getLogger LoggerFactory.getLogger LogManager.getLogger': 'Logger',
  },
  sinks: [
    {
      call:
        'Statement.execute Statement.executeQuery Statement.executeUpdate Statement.executeLargeUpdate ' +
        'Statement.addBatch',
      harm: 'sql',
      at: [0],
    },
    { call: '*.executeQuery *.executeUpdate *.executeLargeUpdate *.addBatch', harm: 'sql', at: [0] },
    { call: '*.prepareStatement *.prepareCall *.nativeSQL', harm: 'sql', at: [0] },
    { call: '*.createQuery *.createNativeQuery *.createSQLQuery', harm: 'sql', at: [0] },
    {
      call:
        'JdbcTemplate.query JdbcTemplate.queryForObject JdbcTemplate.queryForList ' +
        'JdbcTemplate.queryForMap JdbcTemplate.queryForRowSet JdbcTemplate.queryForInt ' +
        'JdbcTemplate.queryForLong JdbcTemplate.update JdbcTemplate.batchUpdate JdbcTemplate.execute',
      harm: 'sql',
      at: [0],
    },
    {
      call:
        '*.queryForObject *.queryForList *.queryForMap *.queryForRowSet *.queryForInt *.queryForLong ' +
        '*.batchUpdate',
      harm: 'sql',
      at: [0],
    },
    { call: 'NamedParameterJdbcTemplate.query NamedParameterJdbcTemplate.update', harm: 'sql', at: [0] },
    { call: '*.execute *.query *.update *.queryForObject', harm: 'sql', at: [0], begins: sqlText },
    { call: 'Runtime.exec', harm: 'command' },
    { call: 'new ProcessBuilder ProcessBuilder.command', harm: 'command' },
    { call: 'CommandLine.parse', harm: 'command', at: [0] },
    {
      call:
        '^ServletWriter.print ^ServletWriter.println ^ServletWriter.write ^ServletWriter.append ' +
        '^ServletWriter.printf ^ServletWriter.format',
      harm: 'html',
    },
    {
      call:
        'new File new FileInputStream new FileOutputStream new FileReader new FileWriter new ' +
        'RandomAccessFile new ZipFile new PrintWriter new FileSystemResource',
      harm: 'path',
    },
    {
      call:
        'Paths.get Path.of Path.resolve Files.newInputStream Files.newOutputStream Files.readAllBytes ' +
        'Files.readAllLines Files.readString Files.lines Files.write Files.writeString Files.copy ' +
        'Files.delete Files.exists Files.newBufferedReader Files.newBufferedWriter',
      harm: 'path',
    },
    { call: 'ServletContext.getResourceAsStream ServletContext.getRealPath *.transferTo', harm: 'path' },
    {
      call:
        'DirContext.search InitialDirContext.search LdapContext.search LdapTemplate.search ' +
        'LdapTemplate.searchForObject NamingEnumeration.search',
      harm: 'ldap',
    },
    { call: 'XPath.evaluate XPath.compile *.selectNodes *.selectSingleNode', harm: 'xpath', at: [0] },
    { call: 'HttpSession.setAttribute HttpSession.putValue', harm: 'session' },
    { call: '*.sendRedirect', harm: 'redirect', at: [0] },
    { call: 'new RedirectView', harm: 'redirect', at: [0] },
    {
      call:
        'new URL URI.create RestTemplate.getForObject RestTemplate.getForEntity ' +
        'RestTemplate.postForObject RestTemplate.postForEntity RestTemplate.exchange WebClient.uri new ' +
        'HttpGet new HttpPost new HttpPut Jsoup.connect',
      harm: 'address',
      at: [0],
    },
    { call: '*.setHeader *.addHeader', harm: 'header', at: [1], severity: 'low' },
    {
      call: 'ScriptEngine.eval *.parseExpression *.evaluateExpression GroovyShell.evaluate GroovyShell.parse',
      harm: 'code',
      at: [0],
    },
    { call: 'Ognl.getValue Ognl.parseExpression MVEL.eval *.createValueExpression', harm: 'code' },
    { call: 'Class.forName', harm: 'code', at: [0], rule: 'unsafe-reflection' },
    { call: 'new ObjectInputStream new XMLDecoder *.fromXML Yaml.load SerializationUtils.deserialize', harm: 'object' },
    { call: 'DocumentBuilder.parse SAXParser.parse XMLReader.parse SAXBuilder.build SAXReader.read', harm: 'xml' },
    { call: 'Pattern.compile', harm: 'pattern', at: [0] },
  ],
  cures: {
    ['Integer.parseInt Integer.valueOf Long.parseLong Long.valueOf Double.parseDouble ' +
      'Float.parseFloat Short.parseShort Boolean.parseBoolean Boolean.valueOf UUID.fromString ' +
      'Integer.decode Double.valueOf']: all,
    ['*.encodeForHTML *.encodeForHTMLAttribute *.encodeForJavaScript *.forHtml *.forHtmlAttribute ' +
      '*.forHtmlContent *.forJavaScript *.htmlEscape *.escapeHtml *.escapeHtml3 *.escapeHtml4 ' +
      '*.escapeXml *.escapeXml10 *.escapeXml11 *.javaScriptEscape']: ['html'],
    'Jsoup.clean *.escapeEcmaScript': ['html'],
    '*.encodeForLDAP *.encodeForDN *.filterEncode *.nameEncode': ['ldap'],
    '*.encodeForXPath': ['xpath'],
    '*.encodeForSQL': ['sql'],
    '*.encodeForOS': ['command'],
    'FilenameUtils.getName': ['path'],
    'Path.getFileName File.getName': ['path'],
    'Pattern.quote': ['pattern'],
    'URLEncoder.encode UriUtils.encode': ['html', 'header', 'path'],
    '*.encodeForURL': ['html', 'header'],
  },
  guards: { 'StringUtils.isNumeric StringUtils.isAlphanumeric StringUtils.isAlpha NumberUtils.isDigits': all },
  drops: words(
    'executeQuery executeUpdate execute query\\w* find\\w* load count\\w* exists\\w* ' +
      'is[A-Z]\\w* has[A-Z]\\w* equals\\w* hashCode compareTo indexOf lastIndexOf length size ' +
      'digest getClass save delete\\w* update search evaluate contains\\w* getRequestDispatcher ' +
      'getSession getContextPath setAttribute',
  ),
  checks: [
    { rule: 'weak-hash', call: 'MessageDigest.getInstance', arg: 0, is: /^(?:MD[245]|SHA-?1|SHA)$/i },
    {
      rule: 'weak-hash',
      call:
        'DigestUtils.md5 DigestUtils.md5Hex DigestUtils.sha1 DigestUtils.sha1Hex DigestUtils.sha ' +
        'DigestUtils.shaHex Hashing.md5 Hashing.sha1',
    },
    {
      rule: 'weak-cipher',
      call: 'Cipher.getInstance KeyGenerator.getInstance SecretKeyFactory.getInstance',
      arg: 0,
      is: /^(?:DES|DESede|TripleDES|RC2|RC4|ARCFOUR|Blowfish)(?:\/|$)|\/ECB\//i,
    },
    { rule: 'weak-cipher', call: 'Cipher.getInstance', arg: 0, is: /^AES$/i },
    { rule: 'weak-random', call: 'new Random' },
    {
      rule: 'weak-random',
      call:
        'Math.random RandomStringUtils.random RandomStringUtils.randomAlphanumeric ' +
        'RandomStringUtils.randomAlphabetic RandomStringUtils.randomNumeric RandomUtils.nextInt ' +
        'ThreadLocalRandom.current',
    },
    { rule: 'cookie-without-secure', call: 'Cookie.setSecure', arg: 0, is: /^false$/ },
    { rule: 'cookie-without-httponly', call: 'Cookie.setHttpOnly', arg: 0, is: /^false$/ },
    {
      rule: 'tls-not-verified',
      call: '*.setHostnameVerifier *.setDefaultHostnameVerifier *.setSSLHostnameVerifier',
      arg: 0,
      is: /NoopHostnameVerifier|ALLOW_ALL|AllowAll/,
    },
    { rule: 'tls-not-verified', call: 'new AllowAllHostnameVerifier new NoopHostnameVerifier new TrustAllStrategy' },
    { rule: 'old-tls', call: 'SSLContext.getInstance', arg: 0, is: /^(?:SSL|SSLv[23]|TLSv1|TLSv1\.1)$/ },
    { rule: 'csrf-off', call: 'csrf().disable' },
    { rule: 'weak-key', call: 'KeyPairGenerator.initialize', arg: 0, is: /^(?:512|768|1024)$/ },
  ],
};
