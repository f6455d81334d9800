# bash completion for tosac; made by gen-cli
_tosac()
{
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local options valued
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "--help --version compile quantize run explain compare evaluate generate inspect verify profile advise report opt doctor targets boards ops" -- "$current"))
        return
    fi
    case ${COMP_WORDS[1]} in
    compile)
        options='--target -t --board --output -o --emit --calib --input -i --preprocess --quant -q --cpu --keep-odd-samples --all-samples --reset --target-sqnr --target-drop --labels --max-cycles --max-flash --budget --ethosu-backend --u55-products --vela-ini --system-config --memory-mode --optimise --vela-timeout --refusal-seconds --max-scratch --share-weights --shaders --image --strict --locations --etrecord --check --no-execute --report --dump-dir --dump-after --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--output|-o|--emit|--calib|--input|-i|--preprocess|--quant|-q|--cpu|--target-sqnr|--target-drop|--labels|--max-cycles|--max-flash|--budget|--ethosu-backend|--vela-ini|--system-config|--memory-mode|--optimise|--vela-timeout|--refusal-seconds|--max-scratch|--shaders|--image|--etrecord|--report|--dump-dir|--dump-after|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    quantize)
        options='--calib --preprocess --merge --quant -q --target -t --board --output -o --qparams --report --budget --observe-only --keep-odd-samples --all-samples --reset --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--calib|--preprocess|--merge|--quant|-q|--target|-t|--board|--output|-o|--qparams|--report|--budget|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    run)
        options='--input -i --preprocess --output -o --method --steps --reset --raw --tosa --dequantize --bench --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--input|-i|--preprocess|--output|-o|--method|--steps|--bench|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    explain)
        options='--target -t --board --calib --quant -q --cpu --ethosu-backend --u55-products --cost --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--calib|--quant|-q|--cpu|--ethosu-backend|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    compare)
        options='--input -i --preprocess --dequantize --report --most --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--input|-i|--preprocess|--report|--most|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    evaluate)
        options='--data --labels --perplexity --preprocess --most --dequantize --tosa --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--data|--labels|--preprocess|--most|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    generate)
        options='--tokenizer --prompt --tokens -n --temperature --top-k --seed --stop --context --tosa --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--tokenizer|--prompt|--tokens|-n|--temperature|--top-k|--seed|--stop|--context|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    inspect)
        options='--disassemble --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    verify)
        options='--target -t --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    profile)
        options='--target -t --board --by --top --estimate --etdump --ticks --method --calib --quant -q --cpu --ethosu-backend --u55-products --vela-ini --system-config --memory-mode --optimise --vela-timeout --refusal-seconds --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--by|--top|--etdump|--ticks|--method|--calib|--quant|-q|--cpu|--ethosu-backend|--vela-ini|--system-config|--memory-mode|--optimise|--vela-timeout|--refusal-seconds|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    advise)
        options='--target -t --board --tries --calib --quant -q --cpu --ethosu-backend --u55-products --vela-ini --system-config --memory-mode --optimise --vela-timeout --refusal-seconds --report --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--tries|--calib|--quant|-q|--cpu|--ethosu-backend|--vela-ini|--system-config|--memory-mode|--optimise|--vela-timeout|--refusal-seconds|--report|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    report)
        options='--output -o --csv --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--output|-o|--csv|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    opt)
        options='--pass --target -t --calib --quant -q --output -o --dump-after --no-loc --arena-limit --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--pass|--target|-t|--calib|--quant|-q|--output|-o|--dump-after|--arena-limit|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    doctor)
        options='--json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    targets)
        options='--json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    boards)
        options='--json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    ops)
        options='--target -t --json --quiet --round --threads --kernels --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--threads|--kernels|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    esac
    if [[ $current == -* && $valued != *"|$before|"* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}
complete -o filenames -F _tosac tosac
