# bash completion for tosac; made by gen-cli
_tosac()
{
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local options valued
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "--help --version compile quantize run explain compare evaluate generate inspect verify profile advise report opt doctor targets boards ops emulate" -- "$current"))
        return
    fi
    case ${COMP_WORDS[1]} in
    compile)
        options='--target -t --board --output -o --emit --input -i --locations --etrecord --report --dump-dir --calib --preprocess --quant -q --cpu --float --goal --labels --keep-odd-samples --all-samples --reset --system --optimise --max-scratch --share-weights --kernels --shaders --image --strict --check --no-execute --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--output|-o|--emit|--input|-i|--etrecord|--report|--dump-dir|--calib|--preprocess|--quant|-q|--cpu|--float|--goal|--labels|--system|--optimise|--max-scratch|--kernels|--shaders|--image|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    quantize)
        options='--calib --preprocess --merge --quant -q --float --target -t --board --output -o --qparams --report --budget --observe-only --keep-odd-samples --all-samples --reset --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--calib|--preprocess|--merge|--quant|-q|--float|--target|-t|--board|--output|-o|--qparams|--report|--budget|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    run)
        options='--input -i --preprocess --output -o --method --steps --reset --raw --tosa --dequantize --bench --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--input|-i|--preprocess|--output|-o|--method|--steps|--bench|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    explain)
        options='--target -t --board --calib --quant -q --cpu --float --system --optimise --cost --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--calib|--quant|-q|--cpu|--float|--system|--optimise|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    compare)
        options='--input -i --preprocess --dequantize --report --most --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--input|-i|--preprocess|--report|--most|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    evaluate)
        options='--data --labels --perplexity --preprocess --most --dequantize --tosa --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--data|--labels|--preprocess|--most|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    generate)
        options='--tokenizer --prompt --tokens -n --temperature --top-k --seed --stop --context --tosa --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--tokenizer|--prompt|--tokens|-n|--temperature|--top-k|--seed|--stop|--context|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    inspect)
        options='--disassemble --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    verify)
        options='--target -t --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    profile)
        options='--target -t --board --by --top --estimate --etdump --ticks --method --calib --quant -q --cpu --float --system --optimise --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--by|--top|--etdump|--ticks|--method|--calib|--quant|-q|--cpu|--float|--system|--optimise|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    advise)
        options='--target -t --board --tries --calib --quant -q --cpu --float --system --optimise --report --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--tries|--calib|--quant|-q|--cpu|--float|--system|--optimise|--report|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    report)
        options='--output -o --csv --fail-on --markdown --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--output|-o|--csv|--fail-on|--markdown|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    opt)
        options='--pass --target -t --calib --quant -q --output -o --dump-after --no-loc --arena-limit --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--pass|--target|-t|--calib|--quant|-q|--output|-o|--dump-after|--arena-limit|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    doctor)
        options='--json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    targets)
        options='--json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    boards)
        options='--json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    ops)
        options='--target -t --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    emulate)
        options='--target -t --report --verify --clock --qemu --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--clock|--qemu|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    esac
    if [[ $current == -* && $valued != *"|$before|"* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}
complete -o filenames -F _tosac tosac
