# Prints the median of the rounds of each rung, from lines "NAME RTT_US TPUT_MIB".
function median(values, name, n,    i, j, held, sorted) {
    for (i = 1; i <= n; i++) {
        held = values[name, i] + 0
        for (j = i - 1; j >= 1 && sorted[j] > held; j--) {
            sorted[j + 1] = sorted[j]
        }
        sorted[j + 1] = held
    }
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}
{
    if (!($1 in rounds)) {
        names[++rungs] = $1
    }
    rounds[$1]++
    rtts[$1, rounds[$1]] = $2
    tputs[$1, rounds[$1]] = $3
}
END {
    title["perftest"] = "ib_send_lat, ib_send_bw"
    title["librpma"] = "C on librpma"
    title["io.rpma"] = "Java on io.rpma"
    title["RpmaChannel"] = "RpmaChannel"
    printf "%-26s %14s %14s %14s %14s\n", "two processors, " used, "64 B there and", "to the one", "64 KiB one", "of the one"
    printf "%-26s %14s %14s %14s %14s\n", rounds["perftest"] " rounds", "back, us", "below, us", "way, MiB/s", "below"
    for (i = 1; i <= rungs; i++) {
        name = names[i]
        rtt[i] = median(rtts, name, rounds[name])
        tput[i] = median(tputs, name, rounds[name])
        printf "%-26s %14.1f %14s %14.0f %14s\n", title[name], rtt[i], (i > 1 ? sprintf("%+.1f", rtt[i] - rtt[i - 1]) : ""), \
            tput[i], (i > 1 ? sprintf("%.0f %%", 100 * tput[i] / tput[i - 1]) : "")
    }
    printf "RpmaChannel's round trip is %.2f of C's on librpma (at most 2.5); its throughput is %.0f %% of ib_send_bw's (at least 90 %%)\n", \
        rtt[rungs] / rtt[2], 100 * tput[rungs] / tput[1]
}
