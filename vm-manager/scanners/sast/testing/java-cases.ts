// For each rule that Java has: a text that breaks it, and a twin that does not.
import type { Case } from './case.js';

const servlet = (body: string): string => `import javax.servlet.http.*;
import java.io.*;
class A extends HttpServlet {
  public void doPost(HttpServletRequest request, HttpServletResponse response) throws Exception {
    String p = request.getParameter("p");
    ${body}
  }
}
`;

export const javaCases: readonly Case[] = [
  [
    'sql-injection',
    servlet('Statement s = c.createStatement(); s.executeQuery("select * from a where b = \'" + p + "\'");'),
    servlet(
      'PreparedStatement s = c.prepareStatement("select * from a where b = ?"); s.setString(1, p); s.executeQuery();',
    ),
  ],
  [
    'sql-injection',
    servlet(
      'java.util.List<String> l = new java.util.ArrayList<String>(); l.add("a"); l.add(p); ' +
        'l.remove(0); c.prepareStatement("select " + l.get(0));',
    ),
    servlet(
      'java.util.List<String> l = new java.util.ArrayList<String>(); l.add("a"); l.add(p); ' +
        'l.remove(1); c.prepareStatement("select " + l.get(0));',
    ),
  ],
  [
    'command-injection',
    servlet('Runtime.getRuntime().exec("ls " + p);'),
    servlet(
      'int n = 86; String b; if ((7 * 42) - n > 200) b = "a"; else b = p; ' + 'Runtime.getRuntime().exec("ls " + b);',
    ),
  ],
  [
    'cross-site-scripting',
    servlet('response.getWriter().println("<p>" + p);'),
    servlet('response.getWriter().println("<p>" + org.springframework.web.util.HtmlUtils.htmlEscape(p));'),
  ],
  [
    'path-traversal',
    servlet('new File("/data/" + p).delete();'),
    servlet('new File("/data/" + FilenameUtils.getName(p)).delete();'),
  ],
  [
    'ldap-injection',
    servlet('javax.naming.directory.DirContext d = x(); d.search("ou=a", "(uid=" + p + ")", null);'),
    servlet('javax.naming.directory.DirContext d = x(); d.search("ou=a", "(uid={0})", null);'),
  ],
  [
    'xpath-injection',
    servlet('javax.xml.xpath.XPath x = y(); x.evaluate("//a[b=\'" + p + "\']", doc);'),
    servlet('javax.xml.xpath.XPath x = y(); x.evaluate("//a", doc);'),
  ],
  [
    'trust-boundary',
    servlet('request.getSession().setAttribute("user", p);'),
    servlet('request.getSession().setAttribute("user", "guest");'),
  ],
  ['open-redirect', servlet('response.sendRedirect(p);'), servlet('response.sendRedirect("/home");')],
  [
    'server-side-request-forgery',
    servlet('new java.net.URL(p).openStream();'),
    servlet('new java.net.URL("https://api.example.test/" + p).openStream();'),
  ],
  [
    'unsafe-deserialization',
    servlet('new ObjectInputStream(request.getInputStream()).readObject();'),
    servlet('new ObjectInputStream(new FileInputStream("a")).readObject();'),
  ],
  ['code-injection', servlet('ScriptEngine e = m(); e.eval(p);'), servlet('ScriptEngine e = m(); e.eval("1 + 1");')],
  ['unsafe-reflection', servlet('Class.forName(p);'), servlet('Class.forName("a.B");')],
  [
    'pattern-from-input',
    servlet('java.util.regex.Pattern.compile(p);'),
    servlet('java.util.regex.Pattern.compile(java.util.regex.Pattern.quote(p));'),
  ],
  ['header-injection', servlet('response.setHeader("X-A", p);'), servlet('response.setHeader("X-A", "b");')],
  [
    'xml-external-entities',
    servlet('DocumentBuilder b = f.newDocumentBuilder(); b.parse(request.getInputStream());'),
    servlet('DocumentBuilder b = f.newDocumentBuilder(); b.parse("a.xml");'),
  ],
  [
    'weak-hash',
    servlet('java.security.MessageDigest.getInstance("MD5");'),
    servlet('java.security.MessageDigest.getInstance("SHA-256");'),
  ],
  [
    'weak-cipher',
    servlet('javax.crypto.Cipher.getInstance("DES/CBC/PKCS5Padding");'),
    servlet('javax.crypto.Cipher.getInstance("AES/GCM/NoPadding");'),
  ],
  ['weak-random', servlet('new java.util.Random().nextInt();'), servlet('new java.security.SecureRandom().nextInt();')],
  [
    'cookie-without-secure',
    servlet('Cookie k = new Cookie("a", "b"); k.setSecure(false);'),
    servlet('Cookie k = new Cookie("a", "b"); k.setSecure(true);'),
  ],
  [
    'cookie-without-httponly',
    servlet('Cookie k = new Cookie("a", "b"); k.setHttpOnly(false);'),
    servlet('Cookie k = new Cookie("a", "b"); k.setHttpOnly(true);'),
  ],
  ['old-tls', servlet('SSLContext.getInstance("SSL");'), servlet('SSLContext.getInstance("TLSv1.3");')],
  [
    'weak-key',
    servlet('KeyPairGenerator g = KeyPairGenerator.getInstance("RSA"); g.initialize(1024);'),
    servlet('KeyPairGenerator g = KeyPairGenerator.getInstance("RSA"); g.initialize(3072);'),
  ],
  ['csrf-off', servlet('http.csrf().disable();'), servlet('http.csrf();')],
  [
    'tls-not-verified',
    servlet('b.setSSLHostnameVerifier(NoopHostnameVerifier.INSTANCE);'),
    servlet('b.setSSLHostnameVerifier(new DefaultHostnameVerifier());'),
  ],
];
