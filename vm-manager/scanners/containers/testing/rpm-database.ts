// A database of RPM as SQLite writes it, with pages of 512 bytes, so that sixty packages make inner pages and rows that
// go on in other pages: pack0 to pack59, and a key of signatures. Made with SQLite 3.
import { inflateSync } from 'node:zlib';

const packed = `
eNrtXDtsHFUUfc+7ayeO7TiOHTsfJ5P/Ol4vO+/N7CckCButUBTHcczuCqeJbGsJEDt2/JGSBmWVhiIREg1SRENDQ4OEaGhoaGhoaGhoaICQJk
ggJBDi3jfjON63OMqbTC7Ec+W59ltrP+ec2Zlz5nr92oXRt5ar1hvzi3NTy5ZkTYxz9rJlMcZisKXYWjXBFn9kzdnjK8bSM7xd/XCP8ff4afhG
VBdiLb09PbyWWJ6anq2OTc2pLf7KRHG4VLRKwyOjRQtvsZJXqjesUvH1kjV2Hrby6GjKevPqypx1ZqxUfLU48fDmgfGm5t7BQT6pHnHp2iwweW
mpem2lenWmfhlb9zx1v0xehedNwWpgnrf09vfzmq0ecnxq5srU5erS6vemdQ+yequVXPfqxifOnBuemLTOFiet4XLp/JkxuNe54lgpZU3Pzk9b
I6PnR9YgJICZ/fxtJCjF/+S/8wf8Pv+R/8C/59/xb/k3/Gv+Ff+Sf8E/55/yT/jH/CP+If+Av8/v8Hf5Lf4Ov8GX+bz3AFE9pgZPQTtxEtpAHl
oyC+24A+2YgHY0A+1IGpqFb7sDJ1CaJLT+Y9D2HYG29xC0Pfjm3L0fWt8+aL17oO3sg9a1C9qObmidXdC2d0Lr6IDW3gatrRXati3QWpuhNeNb
OdGE703Of2XwFdWmqDYe6+erx47T7atH9qg2ZbUr+S8yPgTtqVZtvCnObuFRqwW2EliAn/Cws2YeYj/762Z/fc//udVf/+Ibjk5/fd//fbe//t
tfS28d7/bXeIDlC7CH28xO20ymq7MF9ZzXNyx2PZ+9lHXY0vzK4kw1MwT3HVL3TS8tzqQXF+YAEqeGlAFImTVI7EkhZeogefrfRv1vU++Ldzri
cXbX8uht7gqP3sSD9fQm/lilVwK9suEeg6+qNh6j1l/ACxSG+tugv6jTH2rL9ag2bYH+WyMWNrX+LGLhuVVXO/7Lhuf/cPxfM/XJ0oWTpWvo/w
SQ5Wr+L0ENyQFIjuH5HyE5z1D/LdRk5YCsnKH+EsjKafq3UEPKAqSsof4IKfsM9W+lJqsAZBUM9XeArIKm/1ZqSHmAlDfUHyHlG+o/zngS2tNQ
vdwGFKV9iiY3oKiljqK2Ooq66yjqq6MoV0fRSw9Tv4r9j+T+J1TexeSvRf/yNnJcmP3tR8P/k8mvcGVC17+DnCcM8bY01j+LPElN/3ZyXJj9bW
Gsv8IlQte/k5wntH22a6x/DnnSrF95Ozku9H62Y6y/wuWErn8XOU9o++ycsf555EmzfuUd5LjQ+9lZY/0Vrmzo+neT84S2zy4Y619AnjTrV95J
jgu9n5031l/hauz/xhg/Di24+pVdwFLGZ+EiBUsC3Z8wd382TkmEZv8qPeTA0P4Jc/vnAWvs/26i/jdJZj7dfXF2N+XPfPrCIzbxW93M56+HxK
JfFP/uF/Gxa5Vecv3V6Mfc/tlq/NNg/tMTXSfd1Nf/d0UsRPOfqJ776Y86/suQ/d8e8tMkpn9hnv5tnJIILf5XdpMDw/gvzOO/B8wJWf995DRh
+hfm6d/GKYnQ4n9lLzkwjP/CPP57wLIh67+fnCZM/8I8/ds4JRFa/K/0kwPD+C/M478HLOz8b1HTJDH/ywD5H8ckUs//B8iBYf6XAfK/ApYJWf
9D5DSpP+E0n/7YOCaR2vincpAcGOZ/GSD/K2AiZP2PkNOE/k8G8H84JpG6/ztMDgz9nwzg/xSwsP3fMXKa0P/JAP4PxyRS939HyYGh/5MB/J8C
Frb/S5LThP5PBvB/OCaRuv87Tg4M/Z8M4P8UsLD93wlqmhz0f465/xM4JnF0/zdADgz9n2Pu/zxg/735T4p6/uOgY3Q2nP8crFUGyfVH/+eY+z
+B1/+cBvOfQ9GV0k19/f9wxEI0/4nqeZ//eMf/sOc/afLTJOZ/xzz/C/UpGT3/D5EDUx/9Mc//HrCw83+GnCbM/455/hc4JnH0/P8COTDM/455
/veAhZ3/BTlNmP8d8/wvcEzi6PnfJgeG+d8xz/8esLDzv0NNk4v53w2Q/3FM4ur5X5IDw/zvBsj/CljY858sOU2Y5l3z+Y/AMYmrz39ccmCY/9
0A+V8BC3v+kyenSX3oO4D/wzGJq/u/HDkw9H9uAP+ngIXt/06S04T+zw3g/3BM4ur+r0AODP2fG8D/KWBh+79T5DSh/3MD+D8ck7i6/3uRHBj6
PzeA/1PAGvk/zj9j8BXV/6POno6zGv7TT/wHvds32BW31e2KSuvLC5eHFlamr1RvMJsJ9g+zAGNN`;

export const rpmDatabase = (): Buffer => inflateSync(Buffer.from(packed.replaceAll('\n', ''), 'base64'));
