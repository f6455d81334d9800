#!/usr/bin/env bash
# Words that do not come back: in messages, help, comments, public headers and pages stands the field's own word instead.
#
#   phrase (grep -P, whole words)              say
set -uo pipefail
cd "$(dirname "$0")/.."
table='
changes? of scale                              rescale
sums? with nothing                             add 0
to the bit                                     bit-exact
dear(er|est)?                                  expensive
turned down                                    rejected, not valid, an error
turned (matrix|matrices|product|products|weights|operand|operands)   transposed
memory ran out                                 out of memory
beyond (us|tosac) today                        not supported yet
our own mistake|mistake of tosac.s own         a bug in tosac
outside tools?                                 external tool
somebody else.s                                custom, another
fore(tells?|told)                              predict
likeliest                                      most likely
pictures and sounds                            images and audio
moments in a second                            samples per second
it is hardly the same                          probably unusable
Vela.s (own )?answer                           the output of Vela
nobody (wrote|filled|opened)                   never written
there is no kind %d                            unknown kind %d
is none of its %                               is out of range
(?<!there )is no (number|model|tensor|operator|preset|label|list|matrix)   is not a
what leaves the program|leaves the program     output
handed (on|over|back)                          passed, returned
(are|is) not handled                           is not supported
must be settled                                must be constant
called off                                     cancelled
what mends|mended                              fix
twenty minutes less                            (say how long)
'
good=0 bad=0
files=$(git ls-files 'src/*.[ch]' 'src/*.def' 'include/*.h' 'doc/*.md' 'share/*' README.md CONTRIBUTING.md CHANGELOG.md 'examples/*' 'python/tosac/*' | grep -v '^doc/decisions/014')
while IFS= read -r line; do
    [ -n "$line" ] || continue
    phrase=$(sed -E 's/ {3,}.*//' <<<"$line") say=$(sed -E 's/.* {3,}//' <<<"$line")
    # shellcheck disable=SC2086
    found=$(grep -nHiP "\b($phrase)\b" $files | cut -c1-160 | head -5)
    if [ -z "$found" ]; then good=$((good + 1)); else bad=$((bad + 1)) && echo "'$phrase': say '$say'" && echo "$found"; fi
done <<<"$table"
echo "$good passed, $bad failed"
[ $bad = 0 ]
