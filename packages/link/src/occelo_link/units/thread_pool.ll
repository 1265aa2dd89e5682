; Made by llvm_from_c.py from sources with the digest 23a881df26a9b9bd471337b708b3a92d
; with ziglang 0.17.1

%struct.anon = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, [56 x i8], i64, [56 x i8], [256 x %struct.worker] }
%struct.worker = type { i64, ptr, [48 x i8] }

@pool = internal global %struct.anon zeroinitializer, align 64

define ptr @thread_pool() nounwind {
  ret ptr @pool
}

define void @hold_chunks() {
  %1 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168) monotonic, align 8
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %3 = tail call i64 %2()
  %4 = icmp eq i64 %1, %3
  br i1 %4, label %5, label %30

5:
  %6 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  %7 = add i64 %6, 1
  store i64 %7, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  %8 = icmp eq i64 %6, 0
  br i1 %8, label %9, label %30

9:
  %10 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 0 acq_rel, align 64
  %11 = tail call i64 @llvm.smax.i64(i64 %10, i64 0)
  store i64 %11, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %12 = shl nuw i64 %11, 1
  %13 = add i64 %12, 2
  %14 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %13 acq_rel, align 64
  br label %18

15:
  %16 = add nuw nsw i64 %19, 1
  %17 = icmp eq i64 %16, 16384
  br i1 %17, label %22, label %18

18:
  %19 = phi i64 [ 0, %9 ], [ %16, %15 ]
  %20 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) acquire, align 64
  %21 = icmp eq i64 %20, 0
  br i1 %21, label %29, label %15

22:
  %23 = atomicrmw or ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 1 acq_rel, align 64
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %29, label %25

25:
  %26 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %27 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  %28 = tail call i32 %26(ptr %27, i32 1)
  br label %29

29:
  store atomic i64 %13, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) monotonic, align 64
  br label %30

30:
  ret void
}

define void @resume_chunks() {
  %1 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168) monotonic, align 8
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %3 = tail call i64 %2()
  %4 = icmp eq i64 %1, %3
  %5 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  %6 = icmp ne i64 %5, 0
  %7 = select i1 %4, i1 %6, i1 false
  br i1 %7, label %8, label %46

8:
  %9 = add i64 %5, -1
  store i64 %9, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  %10 = icmp eq i64 %9, 0
  br i1 %10, label %11, label %46

11:
  %12 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  store atomic i64 %12, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %13 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %14 = icmp sgt i64 %13, 1
  br i1 %14, label %15, label %46

15:
  %16 = phi i64 [ %44, %40 ], [ 1, %11 ]
  %17 = phi i64 [ %43, %40 ], [ 0, %11 ]
  %18 = phi i64 [ %42, %40 ], [ 0, %11 ]
  %19 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120) monotonic, align 8
  %20 = add i64 %17, 2
  %21 = icmp ne i64 %17, 9223372036854775806
  %22 = icmp slt i64 %16, %19
  %23 = select i1 %21, i1 %22, i1 false
  br i1 %23, label %24, label %40

24:
  %25 = phi i64 [ %34, %33 ], [ %16, %15 ]
  %26 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %25
  %27 = atomicrmw xchg ptr %26, i64 0 seq_cst, align 64
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %33, label %29

29:
  %30 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %31 = getelementptr inbounds nuw i8, ptr %26, i64 8
  %32 = load ptr, ptr %31, align 8
  tail call void %30(ptr %32)
  br label %33

33:
  %34 = add nsw i64 %25, 1
  %35 = icmp slt i64 %25, %20
  %36 = icmp slt i64 %34, %19
  %37 = select i1 %35, i1 %36, i1 false
  br i1 %37, label %24, label %38

38:
  %39 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  br label %40

40:
  %41 = phi i64 [ %39, %38 ], [ %19, %15 ]
  %42 = add i64 %18, 1
  %43 = shl i64 %42, 1
  %44 = or disjoint i64 %43, 1
  %45 = icmp slt i64 %44, %41
  br i1 %45, label %15, label %46

46:
  ret void
}

define void @forget_threads() {
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  store i64 1, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 72), align 8
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  %1 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168) monotonic, align 8
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %3 = tail call i64 %2()
  %4 = icmp eq i64 %1, %3
  br i1 %4, label %5, label %10

5:
  %6 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  %7 = icmp eq i64 %6, 0
  br i1 %7, label %11, label %8

8:
  %9 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  store i64 %9, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), align 64
  br label %11

10:
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112), align 16
  br label %11

11:
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  ret void
}

define i64 @with_limit(ptr %0, ptr %1) {
  %3 = getelementptr inbounds i8, ptr %1, i64 -8
  %4 = load ptr, ptr %3, align 8
  %5 = ptrtoint ptr %4 to i64
  %6 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %7 = icmp eq ptr %6, null
  br i1 %7, label %36, label %8

8:
  %9 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), i64 1 acquire, align 16
  %10 = icmp eq i64 %9, 0
  br i1 %10, label %11, label %8

11:
  %12 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %13 = tail call i32 %12()
  %14 = sext i32 %13 to i64
  %15 = icmp eq ptr %4, null
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  br i1 %15, label %23, label %17

17:
  %18 = add i64 %16, 1
  store i64 %18, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %19 = icmp eq i64 %16, 0
  br i1 %19, label %20, label %21

20:
  store i64 %14, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 224), align 32
  br label %21

21:
  %22 = icmp slt i64 %5, %14
  br i1 %22, label %31, label %35

23:
  %24 = icmp sgt i64 %16, 0
  br i1 %24, label %25, label %35

25:
  %26 = add nsw i64 %16, -1
  store i64 %26, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %27 = icmp ne i64 %26, 0
  %28 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 224), align 32
  %29 = icmp eq i64 %28, %14
  %30 = select i1 %27, i1 true, i1 %29
  br i1 %30, label %35, label %31

31:
  %32 = phi i64 [ %5, %21 ], [ %28, %25 ]
  %33 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %34 = trunc i64 %32 to i32
  tail call void %33(i32 %34)
  br label %35

35:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208) release, align 16
  br label %36

36:
  %37 = getelementptr inbounds i8, ptr %1, i64 -16
  %38 = load ptr, ptr %37, align 8
  %39 = tail call i64 %38(ptr %0, ptr %1)
  %40 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %41 = icmp eq ptr %40, null
  br i1 %41, label %61, label %42

42:
  %43 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), i64 1 acquire, align 16
  %44 = icmp eq i64 %43, 0
  br i1 %44, label %45, label %42

45:
  %46 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %47 = tail call i32 %46()
  %48 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %49 = icmp sgt i64 %48, 0
  br i1 %49, label %50, label %60

50:
  %51 = sext i32 %47 to i64
  %52 = add nsw i64 %48, -1
  store i64 %52, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %53 = icmp ne i64 %52, 0
  %54 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 224), align 32
  %55 = icmp eq i64 %54, %51
  %56 = select i1 %53, i1 true, i1 %55
  br i1 %56, label %60, label %57

57:
  %58 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %59 = trunc i64 %54 to i32
  tail call void %58(i32 %59)
  br label %60

60:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208) release, align 16
  br label %61

61:
  ret i64 %39
}

define i64 @parallel(ptr %0, ptr %1, i64 %2, i64 %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8, ptr %9) {
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 16
  %12 = load ptr, ptr %11, align 8
  %13 = icmp eq i64 %8, 0
  %14 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 72), align 8
  %15 = select i1 %13, i64 %14, i64 %8
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 80), align 16
  %17 = icmp eq i64 %16, 0
  %18 = tail call i64 @llvm.smin.i64(i64 %15, i64 %16)
  %19 = select i1 %17, i64 %15, i64 %18
  %20 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  %21 = mul i64 %20, 3
  %22 = icmp sgt i64 %6, %21
  %23 = tail call i64 @llvm.smin.i64(i64 %19, i64 256)
  %24 = select i1 %22, i64 %23, i64 1
  %25 = sdiv i64 %6, %20
  %26 = add i64 %25, 1
  %27 = tail call i64 @llvm.smin.i64(i64 %24, i64 %26)
  %28 = sub i64 %3, %2
  %29 = sitofp i64 %28 to double
  %30 = fmul double %29, 1.000000e+07
  %31 = add i64 %6, 1
  %32 = sitofp i64 %31 to double
  %33 = fdiv double %30, %32
  %34 = fptosi double %33 to i64
  %35 = tail call i64 @llvm.smin.i64(i64 %27, i64 %28)
  %36 = icmp eq ptr %9, null
  %37 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %38 = icmp eq ptr %37, null
  %39 = select i1 %36, i1 true, i1 %38
  br i1 %39, label %56, label %40

40:
  %41 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), i64 1 acquire, align 16
  %42 = icmp eq i64 %41, 0
  br i1 %42, label %43, label %40

43:
  %44 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %45 = tail call i32 %44()
  %46 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %47 = add i64 %46, 1
  store i64 %47, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %48 = icmp eq i64 %46, 0
  br i1 %48, label %49, label %51

49:
  %50 = sext i32 %45 to i64
  store i64 %50, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 224), align 32
  br label %51

51:
  %52 = icmp sgt i32 %45, 1
  br i1 %52, label %53, label %55

53:
  %54 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  tail call void %54(i32 1)
  br label %55

55:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208) release, align 16
  br label %56

56:
  %57 = icmp sgt i64 %35, 1
  br i1 %57, label %59, label %58

58:
  br label %147

59:
  %60 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112), i64 1 acquire, align 16
  %61 = icmp eq i64 %60, 0
  br i1 %61, label %62, label %58

62:
  %63 = tail call i64 @llvm.smax.i64(i64 %7, i64 %34)
  %64 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  %65 = icmp eq ptr %64, null
  br i1 %65, label %66, label %74

66:
  %67 = load ptr, ptr @pool, align 64
  %68 = tail call ptr %67()
  %69 = icmp eq ptr %68, null
  br i1 %69, label %70, label %71

70:
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  br label %105

71:
  %72 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %73 = tail call i32 %72(ptr %68, i32 1)
  store ptr %68, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  br label %74

74:
  %75 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  %76 = add i64 %75, 1
  %77 = icmp slt i64 %76, %35
  br i1 %77, label %78, label %101

78:
  %79 = phi i64 [ %99, %96 ], [ %76, %74 ]
  %80 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %79
  store i64 0, ptr %80, align 64
  %81 = load ptr, ptr @pool, align 64
  %82 = tail call ptr %81()
  %83 = icmp eq ptr %82, null
  br i1 %83, label %84, label %86

84:
  %85 = getelementptr inbounds nuw i8, ptr %80, i64 8
  store ptr null, ptr %85, align 8
  br label %101

86:
  %87 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %88 = tail call i32 %87(ptr %82, i32 1)
  %89 = getelementptr inbounds nuw i8, ptr %80, i64 8
  store ptr %82, ptr %89, align 8
  %90 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 24), align 8
  %91 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  %92 = add i64 %91, 1
  %93 = inttoptr i64 %92 to ptr
  %94 = tail call i64 %90(ptr @run_worker, ptr %93)
  %95 = icmp eq i64 %94, -1
  br i1 %95, label %101, label %96

96:
  %97 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  %98 = add i64 %97, 1
  store i64 %98, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  %99 = add i64 %97, 2
  %100 = icmp slt i64 %99, %35
  br i1 %100, label %78, label %101

101:
  %102 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  %103 = add i64 %102, 1
  %104 = tail call i64 @llvm.smin.i64(i64 %103, i64 %35)
  br label %105

105:
  %106 = phi i64 [ %104, %101 ], [ 1, %70 ]
  %107 = shl i64 %106, 2
  %108 = sdiv i64 %28, %107
  %109 = add i64 %108, 1
  %110 = tail call i64 @llvm.smin.i64(i64 %109, i64 %63)
  %111 = icmp sgt i64 %110, 255
  %112 = add nuw i64 %110, 63
  %113 = and i64 %112, -64
  %114 = select i1 %111, i64 %113, i64 %110
  %115 = add i64 %28, -1
  %116 = add i64 %115, %114
  %117 = sdiv i64 %116, %114
  store ptr %0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  store ptr %1, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 144), align 16
  store i64 %2, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 232), align 8
  store i64 %3, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 240), align 16
  store ptr %4, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  store i64 %114, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 248), align 8
  store ptr %9, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160), align 32
  store i64 9223372036854775807, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), align 8
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  %118 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %119 = add i64 %118, 1
  store i64 %119, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  store atomic i64 %106, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120) monotonic, align 8
  %120 = shl i64 %117, 1
  store atomic i64 %120, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) monotonic, align 64
  store atomic i64 %117, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %121 = load ptr, ptr %11, align 8
  tail call fastcc void @run_chunks(i64 0, ptr %121, ptr %5, i64 %63)
  br label %125

122:
  %123 = add nuw nsw i64 %126, 1
  %124 = icmp eq i64 %123, 16384
  br i1 %124, label %129, label %125

125:
  %126 = phi i64 [ 0, %105 ], [ %123, %122 ]
  %127 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) acquire, align 64
  %128 = icmp eq i64 %127, 0
  br i1 %128, label %136, label %122

129:
  %130 = atomicrmw or ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 1 acq_rel, align 64
  %131 = icmp eq i64 %130, 0
  br i1 %131, label %136, label %132

132:
  %133 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %134 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  %135 = tail call i32 %133(ptr %134, i32 1)
  br label %136

136:
  %137 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  %138 = icmp eq i64 %137, 0
  br i1 %138, label %139, label %145

139:
  %140 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), align 8
  %141 = icmp eq i64 %140, 9223372036854775807
  %142 = shl i64 %140, 32
  %143 = ashr exact i64 %142, 32
  %144 = select i1 %141, i64 0, i64 %143
  br label %145

145:
  %146 = phi i64 [ %144, %139 ], [ -2, %136 ]
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) release, align 16
  br label %158

147:
  %148 = phi i64 [ %149, %155 ], [ %2, %58 ]
  %149 = add i64 %148, %7
  %150 = tail call i64 @llvm.smin.i64(i64 %3, i64 %149)
  %151 = tail call i64 %0(ptr %1, i64 %148, i64 %150, ptr %4)
  %152 = icmp eq i64 %151, 0
  br i1 %152, label %153, label %158

153:
  %154 = icmp slt i64 %149, %3
  br i1 %154, label %155, label %158

155:
  %156 = tail call i64 %12(ptr %5)
  %157 = icmp eq i64 %156, 0
  br i1 %157, label %147, label %158

158:
  %159 = phi i64 [ %146, %145 ], [ -2, %155 ], [ 0, %153 ], [ %151, %147 ]
  %160 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %161 = icmp eq ptr %160, null
  %162 = select i1 %36, i1 true, i1 %161
  br i1 %162, label %182, label %163

163:
  %164 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), i64 1 acquire, align 16
  %165 = icmp eq i64 %164, 0
  br i1 %165, label %166, label %163

166:
  %167 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %168 = tail call i32 %167()
  %169 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %170 = icmp sgt i64 %169, 0
  br i1 %170, label %171, label %181

171:
  %172 = sext i32 %168 to i64
  %173 = add nsw i64 %169, -1
  store i64 %173, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %174 = icmp ne i64 %173, 0
  %175 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 224), align 32
  %176 = icmp eq i64 %175, %172
  %177 = select i1 %174, i1 true, i1 %176
  br i1 %177, label %181, label %178

178:
  %179 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %180 = trunc i64 %175 to i32
  tail call void %179(i32 %180)
  br label %181

181:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208) release, align 16
  br label %182

182:
  ret i64 %159
}

define internal fastcc void @run_chunks(i64 %0, ptr %1, ptr %2, i64 %3) {
  %5 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120) monotonic, align 8
  %6 = icmp slt i64 %0, %5
  br i1 %6, label %7, label %200

7:
  %8 = shl i64 %0, 1
  %9 = or disjoint i64 %8, 1
  %10 = add i64 %8, 2
  %11 = icmp ne i64 %8, 9223372036854775806
  %12 = icmp eq ptr %1, null
  br label %13

13:
  %14 = phi i64 [ 0, %7 ], [ %145, %197 ]
  %15 = phi i64 [ 0, %7 ], [ %191, %197 ]
  %16 = phi ptr [ null, %7 ], [ %144, %197 ]
  %17 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %18 = icmp sgt i64 %17, 0
  br i1 %18, label %19, label %200

19:
  %20 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 1 acquire, align 64
  %21 = add i64 %20, -1
  %22 = icmp slt i64 %21, 0
  br i1 %22, label %200, label %23

23:
  %24 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 232), align 8
  %25 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 248), align 8
  %26 = mul i64 %25, %21
  %27 = add i64 %26, %24
  %28 = add i64 %27, %25
  %29 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %30 = icmp eq i64 %14, %29
  br i1 %30, label %143, label %31

31:
  %32 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120) monotonic, align 8
  %33 = icmp slt i64 %9, %32
  %34 = select i1 %11, i1 %33, i1 false
  br i1 %34, label %35, label %49

35:
  %36 = phi i64 [ %45, %44 ], [ %9, %31 ]
  %37 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %36
  %38 = atomicrmw xchg ptr %37, i64 0 seq_cst, align 64
  %39 = icmp eq i64 %38, 0
  br i1 %39, label %44, label %40

40:
  %41 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %42 = getelementptr inbounds nuw i8, ptr %37, i64 8
  %43 = load ptr, ptr %42, align 8
  tail call void %41(ptr %43)
  br label %44

44:
  %45 = add nsw i64 %36, 1
  %46 = icmp slt i64 %36, %10
  %47 = icmp slt i64 %45, %32
  %48 = select i1 %46, i1 %47, i1 false
  br i1 %48, label %35, label %49

49:
  %50 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  tail call void %50(ptr %16)
  %51 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160), align 32
  %52 = icmp eq ptr %51, null
  br i1 %52, label %143, label %53

53:
  %54 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 144), align 16
  %55 = load i64, ptr %51, align 8
  %56 = add i64 %55, 128
  %57 = getelementptr inbounds nuw i8, ptr %51, i64 8
  %58 = load i64, ptr %57, align 8
  %59 = icmp sgt i64 %58, 0
  br i1 %59, label %60, label %71

60:
  %61 = phi i64 [ %69, %60 ], [ 0, %53 ]
  %62 = phi i64 [ %68, %60 ], [ %56, %53 ]
  %63 = getelementptr i64, ptr %51, i64 %61
  %64 = getelementptr i8, ptr %63, i64 16
  %65 = load i64, ptr %64, align 8
  %66 = add i64 %65, 127
  %67 = and i64 %66, -64
  %68 = add i64 %67, %62
  %69 = add nuw nsw i64 %61, 1
  %70 = icmp eq i64 %69, %58
  br i1 %70, label %71, label %60

71:
  %72 = phi i64 [ %56, %53 ], [ %68, %60 ]
  %73 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 40), align 8
  %74 = tail call ptr %73(i64 %72)
  %75 = icmp eq ptr %74, null
  br i1 %75, label %143, label %76

76:
  %77 = load i64, ptr %51, align 8
  %78 = sdiv i64 %77, 8
  %79 = icmp sgt i64 %77, 7
  br i1 %79, label %80, label %87

80:
  %81 = phi i64 [ %85, %80 ], [ 0, %76 ]
  %82 = getelementptr inbounds nuw i64, ptr %54, i64 %81
  %83 = load i64, ptr %82, align 8
  %84 = getelementptr inbounds nuw i64, ptr %74, i64 %81
  store i64 %83, ptr %84, align 8
  %85 = add nuw nsw i64 %81, 1
  %86 = icmp eq i64 %85, %78
  br i1 %86, label %87, label %80

87:
  %88 = and i64 %77, -8
  %89 = icmp eq i64 %88, %77
  br i1 %89, label %97, label %90

90:
  %91 = phi i64 [ %95, %90 ], [ %88, %87 ]
  %92 = getelementptr inbounds i8, ptr %54, i64 %91
  %93 = load i8, ptr %92, align 1
  %94 = getelementptr inbounds i8, ptr %74, i64 %91
  store i8 %93, ptr %94, align 1
  %95 = add nsw i64 %91, 1
  %96 = icmp slt i64 %95, %77
  br i1 %96, label %90, label %97

97:
  %98 = load i64, ptr %57, align 8
  %99 = icmp sgt i64 %98, 0
  br i1 %99, label %100, label %143

100:
  %101 = ptrtoint ptr %74 to i64
  %102 = add i64 %101, 63
  %103 = load i64, ptr %51, align 8
  %104 = add i64 %102, %103
  %105 = and i64 %104, -64
  br label %106

106:
  %107 = phi i64 [ %110, %136 ], [ 0, %100 ]
  %108 = phi i64 [ %140, %136 ], [ %105, %100 ]
  %109 = inttoptr i64 %108 to ptr
  %110 = add nuw nsw i64 %107, 1
  %111 = getelementptr inbounds nuw i64, ptr %74, i64 %110
  %112 = load i64, ptr %111, align 8
  %113 = inttoptr i64 %112 to ptr
  %114 = getelementptr i64, ptr %51, i64 %107
  %115 = getelementptr i8, ptr %114, i64 16
  %116 = load i64, ptr %115, align 8
  %117 = sdiv i64 %116, 8
  %118 = icmp sgt i64 %116, 7
  br i1 %118, label %119, label %126

119:
  %120 = phi i64 [ %124, %119 ], [ 0, %106 ]
  %121 = getelementptr inbounds nuw i64, ptr %113, i64 %120
  %122 = load i64, ptr %121, align 8
  %123 = getelementptr inbounds nuw i64, ptr %109, i64 %120
  store i64 %122, ptr %123, align 8
  %124 = add nuw nsw i64 %120, 1
  %125 = icmp eq i64 %124, %117
  br i1 %125, label %126, label %119

126:
  %127 = and i64 %116, -8
  %128 = icmp eq i64 %127, %116
  br i1 %128, label %136, label %129

129:
  %130 = phi i64 [ %134, %129 ], [ %127, %126 ]
  %131 = getelementptr inbounds i8, ptr %113, i64 %130
  %132 = load i8, ptr %131, align 1
  %133 = getelementptr inbounds i8, ptr %109, i64 %130
  store i8 %132, ptr %133, align 1
  %134 = add nsw i64 %130, 1
  %135 = icmp slt i64 %134, %116
  br i1 %135, label %129, label %136

136:
  store i64 %108, ptr %111, align 8
  %137 = load i64, ptr %115, align 8
  %138 = add i64 %137, 127
  %139 = and i64 %138, -64
  %140 = add i64 %139, %108
  %141 = load i64, ptr %57, align 8
  %142 = icmp slt i64 %110, %141
  br i1 %142, label %106, label %143

143:
  %144 = phi ptr [ %16, %23 ], [ null, %49 ], [ null, %71 ], [ %74, %97 ], [ %74, %136 ]
  %145 = phi i64 [ %14, %23 ], [ %29, %49 ], [ %29, %71 ], [ %29, %97 ], [ %29, %136 ]
  %146 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160), align 32
  %147 = icmp eq ptr %146, null
  %148 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 144), align 16
  %149 = select i1 %147, ptr %148, ptr %144
  %150 = icmp eq ptr %149, null
  br i1 %150, label %158, label %151

151:
  %152 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  %153 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 240), align 16
  %154 = tail call i64 @llvm.smin.i64(i64 %28, i64 %153)
  %155 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  %156 = tail call i64 %152(ptr %149, i64 %27, i64 %154, ptr %155)
  %157 = icmp eq i64 %156, 0
  br i1 %157, label %171, label %158

158:
  %159 = phi i64 [ %156, %151 ], [ -1, %143 ]
  %160 = shl i64 %21, 32
  %161 = and i64 %159, 4294967295
  %162 = or disjoint i64 %161, %160
  %163 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200) monotonic, align 8
  br label %164

164:
  %165 = phi i64 [ %163, %158 ], [ %170, %167 ]
  %166 = icmp slt i64 %162, %165
  br i1 %166, label %167, label %171

167:
  %168 = cmpxchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), i64 %165, i64 %162 monotonic monotonic, align 8
  %169 = extractvalue { i64, i1 } %168, 1
  %170 = extractvalue { i64, i1 } %168, 0
  br i1 %169, label %171, label %164

171:
  br i1 %12, label %190, label %172

172:
  %173 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 248), align 8
  %174 = add i64 %173, %15
  %175 = icmp slt i64 %174, %3
  br i1 %175, label %190, label %176

176:
  %177 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) monotonic, align 64
  %178 = icmp sgt i64 %177, 0
  br i1 %178, label %179, label %190

179:
  %180 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %181 = tail call i64 %180()
  store atomic i64 %181, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168) monotonic, align 8
  %182 = tail call i64 %1(ptr %2)
  store i64 %182, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  %183 = icmp eq i64 %182, 0
  br i1 %183, label %189, label %184

184:
  %185 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 0 acq_rel, align 64
  %186 = tail call i64 @llvm.smax.i64(i64 %185, i64 0)
  %187 = shl nuw i64 %186, 1
  %188 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %187 acq_rel, align 64
  br label %189

189:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168) monotonic, align 8
  br label %190

190:
  %191 = phi i64 [ 0, %189 ], [ %174, %176 ], [ %174, %172 ], [ %15, %171 ]
  %192 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 2 acq_rel, align 64
  %193 = icmp eq i64 %192, 3
  br i1 %193, label %194, label %197

194:
  %195 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %196 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  tail call void %195(ptr %196)
  br label %197

197:
  %198 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120) monotonic, align 8
  %199 = icmp slt i64 %0, %198
  br i1 %199, label %13, label %200

200:
  %201 = phi ptr [ null, %4 ], [ %144, %197 ], [ %16, %19 ], [ %16, %13 ]
  %202 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  tail call void %202(ptr %201)
  ret void
}

define internal void @run_worker(ptr %0) {
  %2 = ptrtoint ptr %0 to i64
  %3 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %2
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 8
  br label %5

5:
  store atomic i64 1, ptr %3 seq_cst, align 64
  %6 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120) monotonic, align 8
  %7 = icmp sgt i64 %6, %2
  br i1 %7, label %8, label %14

8:
  %9 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %10 = icmp sgt i64 %9, 0
  br i1 %10, label %11, label %14

11:
  %12 = atomicrmw xchg ptr %3, i64 0 seq_cst, align 64
  %13 = icmp eq i64 %12, 0
  br i1 %13, label %14, label %18

14:
  %15 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %16 = load ptr, ptr %4, align 8
  %17 = tail call i32 %15(ptr %16, i32 1)
  br label %18

18:
  tail call fastcc void @run_chunks(i64 %2, ptr null, ptr null, i64 0)
  br label %5
}

declare i64 @llvm.smax.i64(i64, i64)

declare i64 @llvm.smin.i64(i64, i64)

